package page

import (
	"context"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/gateway"
	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/provider"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/timeline"
	"github.com/mulligan-run/mulligan/web"
)

// piHarness is a harness whose models are Pi's. It has one Pi at a time, which tests replace; one
// tab and one gateway are enough for all of them.
type piHarness struct {
	*harness
	*window
	api string // the gateway without its guard, for the terminal

	mu      sync.Mutex
	drivers *runner.Runner // of the runs of one test
	row     piRow

	runs chan piRun
}

// piRun is a run that the page has begun.
type piRun struct{ id, session string }

// buildPi builds a piHarness without a Pi, and opens the page.
func buildPi(t *testing.T) *piHarness {
	t.Helper()
	h := &piHarness{harness: &harness{t: t, log: &failingStore{Log: timeline.NewMemory()}}, runs: make(chan piRun, 1)}
	api := gateway.New(gateway.Config{
		Runs: &piRuns{Runs: runs{runner.New(runner.WithLog(h.log)), t.Context()}, harness: h}, Log: h.log, Version: "test",
		Models: func() []gateway.Model {
			return []gateway.Model{{Name: "pi/usual", Provider: "Pi", Ready: true, Default: true}}
		},
		Plugins: func() []gateway.Plugin { return nil },
	})
	h.url, h.api = listen(t, h.guard(api, web.Handler())), listen(t, api)
	h.window = h.visit(h.link(), desktop)
	h.wait(`document.querySelector('#message') && !document.querySelector('.signin') && location.hash === ''`)
	h.wait(`document.querySelector('.pick option')?.innerText === 'usual'`)
	return h
}

// drive has that Pi drive the next runs, as the row says, until the test ends. Each runner is new,
// so it knows nothing about the models' failures in other tests.
func (h *piHarness) drive(t *testing.T, engine provider.Engine, r piRow) {
	t.Helper()
	engine.Folder, engine.Env = filepath.Join(t.TempDir(), "engine"), []string{}
	if engine.ConfigDir == "" {
		engine.ConfigDir = filepath.Join(t.TempDir(), "none")
	}
	set, err := provider.New([]provider.Entry{{Name: "pi", Type: provider.TypePi, Engine: engine}})
	if err != nil {
		t.Fatal(err)
	}
	drivers := runner.New(runner.WithLog(h.log), runner.WithModels(set, r.models()[0], r.models()[1:]...), runner.WithHook("auto-recover", hooks.Func(h.advise)), runner.WithMinTimeout(10*time.Millisecond))
	t.Cleanup(func() {
		drain, done := context.WithTimeout(context.Background(), 5*time.Second)
		defer done()
		_ = drivers.Drain(drain)
		set.Close()
	})
	h.mu.Lock()
	defer h.mu.Unlock()
	h.drivers, h.row = drivers, r
}

// ask begins a conversation and returns its run. The window and the terminal report failures to t.
func (h *piHarness) ask(t *testing.T) (run piRun, screen *terminal) {
	t.Helper()
	h.harness.t, h.window.t = t, t
	eval[any](h.window, `location.hash = '#/new' + Math.random().toString(36).slice(2)`)
	h.lacks(".run")
	h.send("hi")
	select {
	case run = <-h.runs:
	case <-time.After(timeout):
		t.Fatal("the page begins no run; it says:", h.text("body"))
	}
	return run, watch(t, h.api, run.session)
}

// failures are a run's failures so far.
func (h *piHarness) failures(t *testing.T, run string) (list []failure.Failure) {
	t.Helper()
	events, err := h.log.Read(t.Context(), run, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if f, ok := e.Body.(recovery.Failed); ok {
			list = append(list, f.Failure)
		}
	}
	return list
}

// piRuns is the gateway's view of the harness. The current test's runner handles all runs, whatever
// model the page asks for.
type piRuns struct {
	gateway.Runs
	harness *piHarness
}

func (r *piRuns) now() runs {
	r.harness.mu.Lock()
	defer r.harness.mu.Unlock()
	return runs{r.harness.drivers, context.Background()}
}

func (r *piRuns) Start(ctx context.Context, s gateway.Start) (string, error) {
	drivers := r.now()
	p := drivers.runner.Policy()
	r.harness.mu.Lock()
	row := r.harness.row
	r.harness.mu.Unlock()
	p.AutoRecover = row.retries != ""
	if row.begin > 0 {
		p.Timeouts.FirstEvent = failure.InMillis(row.begin)
	}
	if row.silence > 0 {
		p.Timeouts.Idle = failure.InMillis(row.silence)
	}
	run, err := drivers.runner.Start(drivers.ctx, runner.Request{Prompt: s.Prompt, Session: s.Session, Policy: &p})
	if err != nil {
		return "", err
	}
	r.harness.runs <- piRun{run.ID(), s.Session}
	_ = ctx // the run outlives the request
	return run.ID(), nil
}

func (r *piRuns) Recover(ctx context.Context, id string, a gateway.Answer) error {
	return r.now().Recover(ctx, id, a)
}

func (r *piRuns) Cancel(ctx context.Context, id string) error { return r.now().Cancel(ctx, id) }

// buildPlayer builds the program that replays Pi.
func buildPlayer(t *testing.T) (program string) {
	t.Helper()
	program = filepath.Join(t.TempDir(), "player")
	if said, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./player").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	return program
}
