package pi

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/internal/procgroup"
	"github.com/mulligan-run/mulligan/provider"
	"github.com/mulligan-run/mulligan/provider/pi/pitest"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
)

// root is the repository, relative to this folder.
const root = "../.."

// both runs a test with both generations, in parallel.
func both(t *testing.T, test func(t *testing.T, command []string)) {
	t.Helper()
	for name, command := range pitest.Real(t, root) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, command)
		})
	}
}

// harness is a runner whose models are Pi's, and the provider that Pi calls.
type harness struct {
	*runner.Runner
	t      *testing.T
	lab    *faultlab.Lab
	entry  provider.Entry
	folder string // of the engine
	url    string // of the lab
	state  string // a folder for a store, if a test needs one
}

const one, two, unlisted, elsewhere = "pi/fakean/one", "pi/fakean/two", "pi/fakean/three", "pi/fakeoa/two"

// build builds a harness. Pi's provider plays the scripts; entry changes the engine.
func build(t *testing.T, command []string, scripts map[string]string, entry func(*provider.Engine), more ...runner.Option) *harness {
	t.Helper()
	dir := t.TempDir()
	h := &harness{t: t, lab: faultlab.New(faultlab.WithPace(20 * time.Millisecond)), folder: filepath.Join(dir, "engine"), state: filepath.Join(dir, "state")}
	for model, script := range scripts {
		steps, err := faultlab.Parse(script)
		if err != nil {
			t.Fatal(err)
		}
		h.lab.Script(model, steps...)
	}
	server, err := h.lab.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h.url = server.URL()
	t.Cleanup(func() { _, _ = server.Close(), h.lab.Close() })
	person := filepath.Join(dir, "person")
	if err := os.Mkdir(person, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(person, "models.json"), pitest.Models(server.URL()), 0o600); err != nil {
		t.Fatal(err)
	}
	engine := provider.Engine{Command: command, ConfigDir: person, Folder: h.folder, Env: []string{}}
	if entry != nil {
		entry(&engine)
	}
	h.entry = provider.Entry{Name: "pi", Type: provider.TypePi, Engine: engine}
	set, err := provider.New([]provider.Entry{h.entry})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		set.Close()
		h.nothingLeft()
	})
	options := []runner.Option{
		runner.WithModels(set, one, two, unlisted, elsewhere), runner.WithAutoRecover(true), runner.WithMinTimeout(10 * time.Millisecond),
		runner.WithHook("advice", hooks.Func(advise)),
	}
	h.Runner = runner.New(append(options, more...)...)
	return h
}

// advise retries failures that may pass, and otherwise switches to the next model.
func advise(_ context.Context, e hooks.RunError) (recovery.Vote, error) {
	if e.Failure.Retryable {
		return recovery.Vote{Action: recovery.ActionRetry}, nil
	}
	for _, a := range e.Alternatives {
		if a.Model != e.Model {
			return recovery.Vote{Action: recovery.ActionSwitchModel, NewModel: a.Model}, nil
		}
	}
	return recovery.Vote{}, nil
}

// told is the outcome of a run.
type told struct {
	result   runner.Result
	err      error
	failures []failure.Failure
	returned []recovery.ToolReturned
}

// run runs a prompt until it settles.
func (h *harness) run(ctx context.Context, request runner.Request) told {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if request.Prompt == "" {
		request.Prompt = "hi"
	}
	run, err := h.Start(ctx, request)
	if err != nil {
		h.t.Fatal(err)
	}
	var got told
	for e, err := range run.Events() {
		if err != nil {
			break
		}
		if e.Event == nil {
			continue
		}
		switch body := e.Event.Body.(type) {
		case recovery.Failed:
			got.failures = append(got.failures, body.Failure)
		case recovery.ToolReturned:
			got.returned = append(got.returned, body)
		}
	}
	got.result, got.err = run.Wait(context.Background())
	return got
}

// running lists the harness's processes that have not ended: Pis, and what those started.
func (h *harness) running() []int {
	return procgroup.Marked(func(variable string) bool { return variable == "PI_CODING_AGENT_DIR="+h.folder })
}

// nothingLeft requires that within a moment no process of the harness runs.
func (h *harness) nothingLeft() {
	h.t.Helper()
	for deadline := time.Now().Add(10 * time.Second); len(h.running()) > 0; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			for _, pid := range h.running() {
				h.t.Errorf("process %d is left: %s", pid, commandLine(pid))
			}
			return
		}
	}
}

func commandLine(pid int) string {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)) // it may have ended by now
	return strings.ReplaceAll(string(b), "\x00", " ")
}
