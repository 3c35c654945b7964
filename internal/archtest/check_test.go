package archtest

import (
	"path"
	"strings"
	"testing"
)

// broken has one forbidden import for every room and every door.
var broken = []struct {
	file, to string
	why      string
}{
	{"llm/message.go", "recovery", "the bottom of the house"},
	{"llm/message.go", "example.org/module", "the bottom of the house"},
	{"web/web.go", "gateway", "embedded files"},
	{"proto/mulligan/v1/run.pb.go", "recovery", "a contract that others compile"},
	{"recovery/run.go", "net/http", "the heart is pure"},
	{"recovery/run.go", "os", "the heart is pure"},
	{"recovery/run.go", "sync", "the heart is pure"},
	{"recovery/run.go", "math/rand/v2", "the heart is pure"},
	{"recovery/run.go", "timeline", "the heart is pure"},
	{"failure/classify.go", "llm", "a product of its own"},
	{"failure/classify.go", "net/http", "a product of its own"},
	{"recovery/run.go", "example.org/module", "the heart is pure"},
	{"wire/anthropic/stream.go", "recovery", "spoken once"},
	{"wire/anthropic/stream.go", "net/http", "spoken once"},
	{"hooks/dispatch.go", "host", "processes and wires are the host's"},
	{"timeline/sqlite/store.go", "runner", "knows nobody who writes"},
	{"health/health.go", "runner", "none of their machinery"},
	{"values/file.go", "recovery", "neither plugins nor runs"},
	{"provider/internal/sse/sse.go", "provider/openai", "what the dialects share"},
	{"provider/provider.go", "runner", "nothing that runs them"},
	{"provider/pi/process.go", "host", "whose other end is a program"},
	{"doc.go", "recovery", "its embedded sources"},
	{"provider/pi/pitest/real.go", "provider/pi", "where there is one"},
	{"provider/openai/openai.go", "runner", "one wire into deltas"},
	{"faultlab/faultlab.go", "provider/internal/sse", "wrong together"},
	{"internal/procgroup/group.go", "recovery", "nobody's words"},
	{"internal/terminal/printable.go", "recovery", "knows characters"},
	{"internal/hostiletext/shapes.go", "recovery", "nothing of ours"},
	{"internal/doubling/doubling.go", "recovery", "whatever the input is"},
	{"internal/golden/golden.go", "recovery", "nothing of what it compares"},
	{"internal/needs/needs.go", "recovery", "asked by tests everywhere"},
	{"internal/schema/schema.go", "recovery", "it knows neither"},
	{"internal/redact/known.go", "llm", "bytes and nothing of ours"},
	{"runner/command/command.go", "host", "one more tool to the runner"},
	{"runner/mcp/server.go", "timeline", "tools like any other"},
	{"runner/loop.go", "host", "handed its models and hooks"},
	{"internal/protoconv/event.go", "os", "no I/O"},
	{"internal/protoconv/event.go", "runner", "no I/O"},
	{"host/host.go", "runner", "a hook like any other"},
	{"host/trust/lock.go", "config", "files beside the config, not the config"},
	{"config/config.go", "timeline/sqlite", "starts nothing"},
	{"internal/exit/exit.go", "recovery", "an error and a number"},
	{"internal/pluginpublish/check.go", "host", "read from its files"},
	{"internal/plugininstall/install.go", "server", "who asks it"},
	{"internal/devtools/scaffold/templates.go", "host", "is text"},
	{"internal/devtools/replay.go", "gateway", "no model and no page"},
	{"server/server.go", "cmd/mulligan", "and no verb"},
	{"host/devlink/link.go", "host", "no process of the host"},
	{"internal/build/build.go", "recovery", "asked of the build alone"},
	{"show/live.go", "gateway", "nothing of how they are assembled"},
	{"internal/explain/report.go", "timeline", "no run, no store, no gateway"},
	{"internal/labserver/order.go", "runner", "no run"},
	{"internal/demo/play.go", "gateway", "no flag and no page"},
	{"internal/near/near.go", "internal/terminal", "nothing of ours"},
	{"internal/yamlfile/yamlfile.go", "config", "what it settles is not known there"},
	{"internal/wholefile/wholefile.go", "recovery", "nothing of ours"},
	{"internal/keystore/keystore.go", "provider", "nothing of who asks with them"},
	{"cmd/mulligan/run.go", "provider/pi/pitest", "played to tests"},
	{"telemetry/drive.go", "runner", "not the other way round"},
	{"proxy/door.go", "runner", "is a run between"},
	{"internal/tally/tally.go", "runner", "neither who drives runs"},
	{"internal/answers/answers.go", "runner", "commands in the log"},
	{"advice/desk.go", "runner", "makes its calls itself"},
	{"webhook/send.go", "runner", "drives nothing"},
	{"mcpserver/call.go", "gateway", "the door declares"},
	{"acp/prompt.go", "runner", "a conversation of the timeline"},
	{"gateway/gateway.go", "github.com/coder/acp-go-sdk", "speaks the editors' protocol"},
	{"internal/netguard/guard.go", "failure", "nothing of ours"},
	{"internal/recipe/table.go", "proxy", "a table about programs"},
	{"internal/probe/probe.go", "timeline", "as anybody would"},
	{"internal/manual/man.go", "server", "knows none of ours"},
	{"packaging/doc.go", "config", "no code goes with them"},
	{"internal/webguard/host.go", "gateway", "knows HTTP and nothing of ours"},
	{"gateway/gateway.go", "runner", "never reaches into the runner"},
	{"sdk/go/plugin/serve.go", "host", "nothing of the engine"},
	{"sdk/go/client/client.go", "gateway", "follows the log"},
	{"sdk/go/client/client.go", "github.com/hashicorp/go-plugin", "follows the log"},
	{"sdk/conformance/goplugin/main.go", "internal/protoconv", "no door that authors lack"},
	{"sdk/conformance/plugins/languages.go", "sdk/conformance", "nothing of what judges them"},
	{"sdk/conformance/plugin.go", "host", "shares no code"},
	{"tui/tui.go", "timeline", "a client like any other"},
	{"plugins/rules/rules.go", "plugins/autorecover", "not each other"},
	{"plugins/autorecover/hook.go", "sdk/go/plugin", "for any Go program"},
	{"plugins/autorecover/hook.go", "google.golang.org/grpc", "for any Go program"},
	{"plugins/autorecover/serve/serve.go", "hooks", "no door that others lack"},
	{"cmd/other/main.go", "cmd/mulligan", "except another command"},
	{"bench/bench.go", "cmd/mulligan", "except a command"},
	{"examples/service/main.go", "internal/schema", "no door that embedders lack"},
	{"gateway/internal/tell/teller.go", "net/http", "follows from its events"},
	{"internal/archtest/check.go", "recovery", "the judge of imports"},
	{"runner/loop_test.go", "cmd/mulligan", "nobody imports it"},
	{"runner/loop_test.go", "bench", "from outside"},
	{"provider/anthropic/anthropic.go", "provider/openai", "named in one file"},
	{"provider/names.go", "provider/openai", "named in one file"},
	{"cmd/mulligan/run.go", "provider/openai", "named in one file"},
	{"runner/loop.go", "proto/mulligan/v1", "protobuf types stop"},
	{"runner/command/call.go", "github.com/modelcontextprotocol/go-sdk/mcp", "one package speaks"},
	{"gateway/gateway.go", "github.com/hashicorp/go-plugin/runner", "at its two ends only"},
	{"runner/loop.go", "go.opentelemetry.io/otel/trace", "one room speaks OpenTelemetry"},
}

func TestEveryRuleCanBreak(t *testing.T) {
	proven := map[string]bool{}
	for _, b := range broken {
		var hit bool
		for _, v := range Check([]Package{importing(b.file, b.to)}) {
			proven[v.Why] = true
			hit = hit || strings.Contains(v.Why, b.why) && strings.Contains(v.What, b.file+" imports "+b.to)
		}
		if !hit {
			t.Errorf("%s may import %s; wanted a refusal because %q", b.file, b.to, b.why)
		}
	}
	for _, r := range Rooms {
		if !proven[r.Why] {
			t.Errorf("nothing in the table above breaks the room %s", r.From)
		}
	}
	for _, d := range Doors {
		if !proven[d.Why] {
			t.Errorf("nothing in the table above breaks the door to %s", d.To)
		}
	}
}

func TestPlannedImportsPass(t *testing.T) {
	for _, ok := range []struct{ file, to string }{
		{"recovery/run.go", "llm"},
		{"recovery/run.go", "time"},
		{"recovery/run_test.go", "os"},
		{"timeline/sqlite/store.go", "timeline"},
		{"timeline/sqlite/store.go", "modernc.org/sqlite"},
		{"provider/provider.go", "provider/openai"},
		{"provider/openai/openai.go", "provider/internal/sse"},
		{"provider/openai/openai.go", "provider/openai/chat"},
		{"runner/mcp/offer.go", "runner"},
		{"runner/mcp/server.go", "github.com/modelcontextprotocol/go-sdk/mcp"},
		{"internal/protoconv/event.go", "proto/mulligan/v1"},
		{"host/host.go", "github.com/hashicorp/go-plugin"},
		{"sdk/go/plugin/serve.go", "proto/mulligan/v1"},
		{"sdk/conformance/plugin.go", "proto/mulligan/v1"},
		{"plugins/autorecover/serve/serve.go", "sdk/go/plugin"},
		{"cmd/mulligan/run.go", "runner"},
		{"cmd/mulligan/run.go", "cmd/mulligan/internal/screen"},
	} {
		for _, v := range Check([]Package{importing(ok.file, ok.to)}) {
			t.Error(v)
		}
	}
}

func TestStrayAndUndocumentedPackages(t *testing.T) {
	for _, c := range []struct {
		pkg  Package
		want string
	}{
		{Package{Path: "util", Files: []string{"doc.go"}}, "package util has no room"},
		{Package{Path: "runner", Files: []string{"loop.go"}}, "package runner has no doc.go"},
	} {
		found := Check([]Package{c.pkg})
		if len(found) != 1 || found[0].What != c.want {
			t.Errorf("got %v, want %q", found, c.want)
		}
	}
	for _, pkg := range []Package{
		{Path: "proto/mulligan/v1", Files: []string{"run.pb.go"}},
		{Path: ".", Files: []string{"readme_test.go"}},
	} {
		if found := Check([]Package{pkg}); len(found) != 0 {
			t.Errorf("%s: got %v, want nothing", pkg.Path, found)
		}
	}
}

func TestClockIsSeenThroughAnAlias(t *testing.T) {
	const src = `package recovery
import clock "time"
func f() { _ = clock.Now(); _ = clock.Second; <-clock.After(1) }`
	found, err := CheckClock("fake.go", src)
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != 2 || found[0].What != "fake.go:3 uses time.Now" {
		t.Errorf("got %v, want time.Now and time.After", found)
	}
}

func TestMachinePathIsSeen(t *testing.T) {
	for text, want := range map[string]bool{
		`dir = "` + "/wo" + `rk/main"`:        true,
		"/ro" + "ot/go":                       true,
		"https://example.org" + "/wo" + "rk/": false,
		"testdata" + "/wo" + "rk/a.txt":       false,
	} {
		if (machinePath([]byte(text)) >= 0) != want {
			t.Errorf("%s: got %v, want %v", text, !want, want)
		}
	}
}

// importing is a made-up package with one import besides its doc.go.
func importing(file, to string) Package {
	pkg := path.Dir(file)
	first, _, _ := strings.Cut(to, "/")
	ours := !strings.Contains(first, ".")
	for _, std := range []string{"net", "os", "sync", "math", "time"} {
		ours = ours && first != std
	}
	return Package{
		Path:    pkg,
		Files:   []string{"doc.go", path.Base(file)},
		Imports: []Import{{From: pkg, To: to, File: file, Ours: ours, Test: !isCode(file)}},
	}
}
