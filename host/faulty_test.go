package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	grpchealth "google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/mulligan-run/mulligan/internal/protoconv"
	mulliganv1 "github.com/mulligan-run/mulligan/proto/mulligan/v1"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/sdk/go/plugin"
)

// TestMain lets the test binary play the plugin.
func TestMain(m *testing.M) {
	fault := os.Getenv("FAULT")
	if fault == "" {
		os.Exit(m.Run())
	}
	leaveTrace()
	switch fault {
	case "a host":
		hostProcess()
	case "bare":
		fmt.Fprintln(os.Stderr, bareServer())
		os.Exit(1)
	case "raw", "print", "sync print", "long error", "callback":
		serveRaw()
		os.Exit(0)
	case "no controller", "deaf":
		fmt.Fprintln(os.Stderr, serveBare(fault))
		os.Exit(1)
	case "old":
		serveOld()
		os.Exit(0)
	}
	faultyHandshake(fault)
	schema := `{"type":"object","properties":{"n":{"type":"integer"}},"additionalProperties":false}`
	if fault == "endless schema" {
		schema = endlessSchema()
	}
	options := []plugin.Option{plugin.WithVersion("1.2.3"), plugin.WithConfigSchema(schema)}
	if fault == "gate" {
		options = append(options, plugin.WithBeforeCall(judge))
	}
	plugin.Serve(plugin.Func(faulty), options...)
	if fault == "last lines" {
		said := ""
		for n := range lastLinesOf {
			said += fmt.Sprintf("line %d\n", n+1)
		}
		fmt.Fprint(os.Stderr, said)
	}
}

// judge does what the name of the model says.
func judge(_ context.Context, c plugin.Call) (plugin.Verdict, error) {
	switch c.Model {
	case "panic":
		panic("boom")
	case "nowhere":
		return plugin.Route("no/where", ""), nil
	}
	return plugin.Route("b/two", "cheaper"), nil
}

// endlessSchema is a chain of forty definitions, each of which refers twice to the next.
func endlessSchema() string {
	var b strings.Builder
	b.WriteString(`{"$ref":"#/$defs/a0","$defs":{`)
	for i := range 40 {
		fmt.Fprintf(&b, `"a%d":{"allOf":[{"$ref":"#/$defs/a%d"},{"$ref":"#/$defs/a%d"}]},`, i, i+1, i+1)
	}
	b.WriteString(`"a40":true}}`)
	return b.String()
}

// slowStart is longer than any answer may take.
const slowStart = 3 * time.Second

// lastLinesOf is how many lines "last lines" writes when it ends.
const lastLinesOf = 40

// faultyHandshake does not return where the fault is in the handshake.
func faultyHandshake(fault string) {
	socket, certificate := os.Getenv("PLUGIN_UNIX_SOCKET_DIR")+"/s", strings.Repeat("A", 60)
	lines := map[string]string{
		"garbage":      "Welcome to my \x1b[31mplugin!",
		"core":         "2|1|unix|" + socket + "|grpc|" + certificate,
		"version":      "1|99|unix|" + socket + "|grpc|" + certificate,
		"netrpc":       "1|1|unix|" + socket + "|netrpc|" + certificate,
		"nobody":       "1|1|unix|" + socket + "|grpc|",
		"tcp":          "1|1|tcp|192.0.2.1:80|grpc|" + certificate,
		"uncertified":  "1|1|unix|" + socket + "|grpc",
		"elsewhere":    "1|1|unix|/tmp/s|grpc|" + certificate,
		"unwanted TLS": "1|1|unix|" + socket + "|grpc|" + certificate,
	}
	switch line, ok := lines[fault]; {
	case ok:
		fmt.Println(line)
		time.Sleep(time.Hour)
	case fault == "endless line":
		fmt.Print(strings.Repeat("x", 200_000))
		time.Sleep(time.Hour)
	case fault == "drip":
		for {
			fmt.Print("x")
			time.Sleep(10 * time.Millisecond)
		}
	case fault == "slow start":
		time.Sleep(slowStart)
	case fault == "silent":
		time.Sleep(time.Hour)
	case fault == "exit at start":
		os.Exit(3)
	case fault == "exit 0 at start":
		os.Exit(0)
	}
}

// serveBare is a server without TLS and without go-plugin's services: nobody can ask it
// to end. It ignores SIGTERM, and when it is deaf, its life line, too.
func serveBare(fault string) error {
	signal.Ignore(syscall.SIGTERM)
	socket := os.Getenv("PLUGIN_UNIX_SOCKET_DIR") + "/s"
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "unix", socket)
	if err != nil {
		return err
	}
	server := grpc.NewServer()
	health := grpchealth.NewServer()
	health.SetServingStatus("plugin", healthpb.HealthCheckResponse_SERVING)
	healthpb.RegisterHealthServer(server, health)
	mulliganv1.RegisterRecoveryPluginServer(server, bareAnswers{})
	fmt.Println("1|1|unix|" + socket + "|grpc|")
	if fault != "deaf" {
		go func() { _, _ = io.Copy(io.Discard, os.Stdin); os.Exit(0) }()
	}
	return server.Serve(listener)
}

// bareAnswers answers without the checks of any SDK.
type bareAnswers struct{ raw }

func (bareAnswers) RunError(context.Context, *mulliganv1.RunErrorRequest) (*mulliganv1.RunErrorResponse, error) {
	return &mulliganv1.RunErrorResponse{Action: mulliganv1.Action_ACTION_RETRY, DelayMs: 1000, Reason: "ok"}, nil
}

// leaveTrace writes a file named after the process into the folder TRACE: its
// environment and its open files.
func leaveTrace() {
	dir := os.Getenv("TRACE")
	if dir == "" {
		return
	}
	trace := os.Environ()
	files, _ := os.ReadDir("/proc/self/fd")
	for _, f := range files {
		if target, err := os.Readlink("/proc/self/fd/" + f.Name()); err == nil {
			trace = append(trace, "fd "+f.Name()+" "+target)
		}
	}
	_ = os.WriteFile(filepath.Join(dir, strconv.Itoa(os.Getpid())), []byte(strings.Join(trace, "\n")), 0o600)
}

// hostProcess is a host that starts the plugin PLUGIN, or four of them, and says which.
func hostProcess() {
	h := New()
	var faults []string
	if faults = []string{os.Getenv("PLUGIN")}; faults[0] == "four" {
		faults = []string{"ok", "raw", "ok", "wrapped"}
	}
	for n, fault := range faults {
		spec := faultySpec(fault, "", "TRACE="+os.Getenv("TRACE"))
		spec.Name += strconv.Itoa(n)
		if fault == "wrapped" {
			spec.Command = []string{"sh", "-c", `"$0"; exit 5`, os.Args[0]}
		}
		if err := h.Add(spec); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	if err := h.Start(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(h.Statuses()[0].PID)
	time.Sleep(time.Hour)
}

// raw is a server without our SDK: it neither follows its parent nor makes its
// answers valid.
type raw struct {
	goplugin.NetRPCUnsupportedPlugin
	mulliganv1.UnimplementedRecoveryPluginServer
	broker *goplugin.GRPCBroker
}

func serveRaw() {
	goplugin.Serve(&goplugin.ServeConfig{
		HandshakeConfig: goplugin.HandshakeConfig{
			ProtocolVersion: protoconv.ProtocolVersion, MagicCookieKey: protoconv.CookieKey, MagicCookieValue: protoconv.CookieValue,
		},
		Plugins:    goplugin.PluginSet{protoconv.PluginName: &raw{}},
		GRPCServer: goplugin.DefaultGRPCServer,
	})
}

func (r *raw) GRPCServer(broker *goplugin.GRPCBroker, g *grpc.Server) error {
	r.broker = broker
	mulliganv1.RegisterRecoveryPluginServer(g, r)
	return nil
}

func (*raw) GRPCClient(context.Context, *goplugin.GRPCBroker, *grpc.ClientConn) (any, error) {
	return nil, errors.New("not a host")
}

func (raw) Describe(context.Context, *mulliganv1.DescribeRequest) (*mulliganv1.DescribeResponse, error) {
	return &mulliganv1.DescribeResponse{Version: "raw\x1b[31m"}, nil
}

func (raw) Configure(context.Context, *mulliganv1.ConfigureRequest) (*mulliganv1.ConfigureResponse, error) {
	return &mulliganv1.ConfigureResponse{}, nil
}

func (r *raw) RunError(context.Context, *mulliganv1.RunErrorRequest) (*mulliganv1.RunErrorResponse, error) {
	m := &mulliganv1.RunErrorResponse{Action: mulliganv1.Action_ACTION_RETRY, Reason: "ok"}
	switch os.Getenv("FAULT") {
	case "print": // past everything that go-plugin puts in its place
		fmt.Fprintln(os.NewFile(1, "stdout"), strings.Repeat("x", 1<<20))
	case "sync print": // through the stream of GRPCStdio
		for range 100 {
			fmt.Println(strings.Repeat("x", 100_000))
		}
	case "long error":
		return nil, status.Error(codes.Unknown, strings.Repeat("\x1b[2J\n", 100_000))
	case "callback":
		for id := range uint32(100) {
			go func() {
				if conn, err := r.broker.Dial(id); err == nil {
					_ = conn.Invoke(context.Background(), "/host/Anything", m, m)
				}
			}()
		}
	case "raw": // a reason that is not UTF-8, past all checks of the encoder
		m.Reason = ""
		field := m.ProtoReflect().Descriptor().Fields().ByName("reason").Number()
		m.ProtoReflect().SetUnknown(protowire.AppendBytes(protowire.AppendTag(nil, field, protowire.BytesType), []byte("no\xff")))
	}
	return m, nil
}

var inside, most atomic.Int64

// gate waits for the file GATE and tells how many waited with it at most.
func gate() string {
	n := inside.Add(1)
	defer inside.Add(-1)
	for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
	}
	for {
		if _, err := os.Stat(os.Getenv("GATE")); err == nil {
			return strconv.FormatInt(most.Load(), 10)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// countInState counts the answers that were ever given.
func countInState() string {
	if plugin.StateDir() == "" {
		return "no folder"
	}
	path := filepath.Join(plugin.StateDir(), "count")
	text, _ := os.ReadFile(path)
	n, _ := strconv.Atoi(string(text))
	text = []byte(strconv.Itoa(n + 1))
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return err.Error()
	}
	return string(text)
}

// takeMemory takes memory until it is stopped.
func takeMemory() {
	var all [][]byte
	for range 4096 {
		all = append(all, bytes.Repeat([]byte{1}, 1<<20))
		time.Sleep(time.Millisecond)
	}
	runtime.KeepAlive(all)
}

func faulty(ctx context.Context, e plugin.Event) (plugin.Decision, error) {
	answer := plugin.Retry(time.Second).Because("ok")
	switch os.Getenv("FAULT") {
	case "panic":
		panic("boom")
	case "crash":
		go func() { panic("boom") }()
		time.Sleep(time.Hour)
	case "exit":
		fmt.Fprintln(os.NewFile(2, "stderr"), "last words")
		os.Exit(3)
	case "fail":
		answer.Action = recovery.ActionFail
	case "count":
		answer.Reason = countInState()
	case "listen":
		answer = plugin.Fail(strconv.Itoa(len(e.Transcript)) + " messages")
	case "hang":
		time.Sleep(time.Hour)
	case "log":
		plugin.Log(ctx).Warn("over quota\x1b[2J", "limit", 3)
	case "late":
		time.Sleep(lateness)
	case "slow":
		time.Sleep(100*time.Millisecond + rand.N(200*time.Millisecond))
	case "big":
		answer.Reason = strings.Repeat("x", 8<<20)
	case "memory":
		takeMemory()
	case "fork":
		for range 200 {
			_ = exec.Command("sleep", "300").Start()
		}
		time.Sleep(time.Hour)
	case "setsid", "setsid and exit":
		child := exec.Command("sleep", "300")
		child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		child.Stdout, child.Stderr = os.NewFile(1, "stdout"), os.NewFile(2, "stderr")
		if err := child.Start(); err != nil {
			return answer, err
		}
		if dir := os.Getenv("TRACE"); dir != "" {
			_ = os.WriteFile(filepath.Join(dir, strconv.Itoa(child.Process.Pid)), []byte("child"), 0o600)
		}
		if os.Getenv("FAULT") == "setsid and exit" {
			os.Exit(4)
		}
	case "utf-8":
		answer.Actions = []recovery.Button{{Kind: "\xff", Label: "\xff"}}
	case "enum":
		answer.Action = "dance"
	case "negative":
		answer.Delay = -time.Second
	case "flood":
		stderr := os.NewFile(2, "stderr")
		for range 20_000 {
			fmt.Fprintln(stderr, `{"@message": 42}`)
		}
	case "grandchild":
		child := exec.Command("sleep", "300")
		child.Stdout, child.Stderr = os.NewFile(1, "stdout"), os.NewFile(2, "stderr")
		if err := child.Start(); err != nil {
			return answer, err
		}
		os.Exit(4)
	case "stop":
		_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
		time.Sleep(time.Hour) // the signal may take effect a little later
	case "gate":
		answer.Reason = gate()
	}
	return answer, nil
}
