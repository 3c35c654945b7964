package hostile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/host"
	"github.com/mulligan-run/mulligan/provider/openai"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/sdk/go/plugin"
	"github.com/mulligan-run/mulligan/timeline"
)

// faults are what a plugin does; none ends in a valid opinion.
var faults = []string{
	"none", "crash", "panic", "error", "exit", "exit at start", "greeting", "silent", "hang", "stop", "big", "unknown action",
	"negative delay", "switch to nowhere", "flood", "child", "wrapped", "missing",
}

func TestMain(m *testing.M) {
	fault := os.Getenv("FAULT")
	switch fault {
	case "":
		os.Exit(m.Run())
	case "greeting":
		fmt.Println("Welcome!")
		time.Sleep(time.Hour)
	case "silent":
		time.Sleep(time.Hour)
	case "exit at start":
		os.Exit(3)
	}
	plugin.Serve(plugin.Func(func(context.Context, plugin.Event) (plugin.Decision, error) { return misbehave(fault) }))
}

func misbehave(fault string) (d plugin.Decision, err error) {
	stderr := os.NewFile(2, "stderr")
	switch fault {
	case "crash":
		go func() { panic("boom") }()
		time.Sleep(time.Hour)
	case "panic":
		panic("boom")
	case "error":
		return d, errors.New("out of order")
	case "exit":
		os.Exit(3)
	case "hang":
		time.Sleep(time.Hour)
	case "stop":
		_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
		time.Sleep(time.Hour)
	case "big":
		return plugin.Retry(0).Because(strings.Repeat("x", 4<<20)), nil
	case "unknown action":
		d.Action = "dance"
	case "negative delay":
		d = plugin.Retry(0)
		d.Delay = -time.Second
	case "switch to nowhere":
		d.Action = recovery.ActionSwitchModel
	case "flood":
		for range 10_000 {
			fmt.Fprintln(stderr, strings.Repeat("\x1b[2J", 20))
		}
	case "child":
		child := exec.Command("sleep", "300")
		child.Stdout, child.Stderr = os.NewFile(1, "stdout"), stderr
		child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		_ = child.Start()
	}
	return d, nil
}

// traces are what the provider plays.
var traces = map[string][]faultlab.Step{
	"503, then an answer":     {faultlab.Unavailable(), faultlab.Answer("It is clear.")},
	"cut, then 401":           {faultlab.CutAfter("It is"), faultlab.Unauthorized()},
	"a good answer":           {faultlab.Answer("It is clear.")},
	"two 503, then an answer": {faultlab.Unavailable(), faultlab.Unavailable(), faultlab.Answer("It is clear.")},
}

// each is a hook's time here; the default is 2 s. All hooks together have enough more that a hook
// which exceeds its own time is noticed, even on a busy machine.
const (
	each = 700 * time.Millisecond
	busy = 5 * time.Second // how much longer a busy machine may take
	all  = 2 * busy

	start = 10 * time.Second // what hooks.Deadlines allows for a start
)

// retry is another hook's advice: retry, at most twice.
var retry = hooks.Func(func(_ context.Context, e hooks.RunError) (recovery.Vote, error) {
	if !e.Failure.Retryable || e.Retries >= 2 {
		return recovery.Vote{}, nil
	}
	return recovery.Vote{Action: recovery.ActionRetry, Delay: 1}, nil
})

// I15 and I16, with a plugin alone and before another hook's advice.
func TestAFaultyPluginChangesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	for name, trace := range traces {
		for _, advised := range []bool{false, true} {
			want, _ := play(t, trace, advised, each, nil)
			for _, fault := range faults {
				if !advised && name != "503, then an answer" || fault == "none" && advised {
					continue
				}
				t.Run(fmt.Sprintf("%s/%s/advised %v", fault, name, advised), func(t *testing.T) {
					t.Parallel()
					got, longest := play(t, trace, advised, each, hostOf(t, fault))
					if got != want {
						t.Errorf("with the plugin:\n%swithout:\n%s", got, want)
					}
					if longest > longestFor(fault) {
						t.Errorf("a failure was decided after %v", longest)
					}
				})
			}
		}
	}
}

// longestFor is how long a decision may take. A plugin that was started and does not answer the
// handshake is waited for until a start's time is over, and is then not asked.
func longestFor(fault string) time.Duration {
	if fault == "silent" {
		return start + busy
	}
	return each + busy
}

// I16: plugins that hang together take one budget, and not one each.
func TestHooksHaveOneBudget(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	const each = 6 * time.Second
	_, longest := play(t, traces["503, then an answer"], true, each, hostOf(t, "hang", "stop", "crash"))
	if longest < each || longest > each+busy { // one after another they would take twice that
		t.Errorf("the failure was decided after %v", longest)
	}
}

func hostOf(t *testing.T, faults ...string) *host.Host {
	t.Helper()
	h := host.New()
	t.Cleanup(func() { _ = h.Close() })
	for n, fault := range faults {
		spec := host.Spec{Name: fmt.Sprint("p", n), Command: []string{os.Args[0]}, Env: []string{"FAULT=" + fault, "GORACE=atexit_sleep_ms=0"}}
		switch fault {
		case "wrapped":
			spec.Command = []string{"sh", "-c", `"$0"; exit 5`, os.Args[0]}
		case "missing":
			spec.Command, spec.Late = []string{"/nowhere/plugin"}, true
		}
		if err := h.Add(spec); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

// play runs a prompt against a provider that plays the trace. It returns the outcome, without the
// plugins' votes and without how often partial text was saved, which depends on timing, and the
// longest time from a failure to its decision.
func play(t *testing.T, trace []faultlab.Step, advised bool, each time.Duration, plugins *host.Host) (outcome string, longest time.Duration) {
	t.Helper()
	lab := faultlab.New()
	lab.Script("m", trace...)
	server, err := lab.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = server.Close() }()
	model, err := openai.New(openai.Config{Name: "lab", BaseURL: server.URL() + "/v1", Key: func() (string, error) { return "sk-test", nil }})
	if err != nil {
		t.Fatal(err)
	}
	log := timeline.NewMemory()
	options := []runner.Option{
		runner.WithModel("lab/m", model), runner.WithAutoRecover(true), runner.WithLog(log),
		runner.WithHookDeadlines(hooks.Deadlines{Each: each, All: all}),
	}
	if plugins != nil {
		options = append(options, runner.WithHooks(plugins.Hooks))
	}
	if advised {
		options = append(options, runner.WithHook("retry", retry))
	}
	run, err := runner.New(options...).Start(t.Context(), runner.Request{Prompt: "How is the weather?"})
	if err != nil {
		t.Fatal(err)
	}
	result, err := run.Wait(t.Context())
	events, readErr := log.Read(t.Context(), run.ID(), 0, 0)
	if readErr != nil {
		t.Fatal(readErr)
	}
	var said strings.Builder
	fmt.Fprintf(&said, "%s: %q, %d requests", result.Status, result.Text, len(lab.Requests()))
	var failed *runner.Error
	if errors.As(err, &failed) {
		fmt.Fprintf(&said, ", %s", failed.Failure.Kind)
	}
	var failure time.Time
	for _, e := range events {
		switch e.Type() {
		case "voted", "noted":
			continue
		case "failed":
			failure = e.Time
		case "decided":
			longest = max(longest, e.Time.Sub(failure))
		}
		fmt.Fprintf(&said, "\n  %s", e.Type())
	}
	return said.String() + "\n", longest
}
