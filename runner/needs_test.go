package runner_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
)

func (h *harness) machine(name string, has recovery.Labels, more ...runner.Option) *runner.Runner {
	return runner.New(append([]runner.Option{
		runner.WithModel(primary, h.model), runner.WithHook("h", advise(retryNow)), runner.WithLog(tenant{h.log, name}),
		runner.WithClock(h.clock.now), runner.WithMachine(has, func(model string) recovery.Labels {
			return map[string]recovery.Labels{primary: {"network": "inside"}}[model]
		}),
	}, more...)...)
}

func needing(name string, needs recovery.Labels) runner.Tool {
	return runner.Tool{Name: name, Needs: needs, Run: func(context.Context, runner.ToolCall) (string, error) { return "", nil }}
}

// TestNeeds: a run is driven by the machine alone that has what its request, its model and its
// tools need, whoever begins it; people can stop it anywhere.
func TestNeeds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, answers("built"))
		tool := runner.WithTools(needing("build", recovery.Labels{"files": "builds"}))
		begins := h.machine("begins", recovery.Labels{"network": "inside", "files": "other"}, tool)
		start := func() string {
			run, err := begins.Start(t.Context(), runner.Request{Prompt: "hi", Needs: recovery.Labels{"gpu": "big"}})
			if err != nil {
				t.Fatal(err)
			}
			_, err = run.Wait(t.Context())
			lacks, ok := errors.AsType[*runner.NeedsError](err)
			if !ok || !errors.Is(err, runner.ErrLetGo) || lacks.Needs.String() != "files=builds gpu=big network=inside" {
				t.Errorf("its Wait says %v", err)
			}
			return run.ID()
		}
		id, stopped := start(), start()
		if _, err := begins.Resume(t.Context(), id); !errors.Is(err, runner.ErrNeeds) || !strings.Contains(err.Error(), "this one has files=other") {
			t.Errorf("it is resumed where it cannot be: %v", err)
		}
		lacking, bulk := h.machine("lacking", recovery.Labels{"files": "builds"}), &inBulk{tenant: tenant{h.log, "bulk"}}
		for _, r := range []*runner.Runner{begins, lacking, runner.New(runner.WithModel(primary, h.model), runner.WithLog(bulk), runner.WithClock(h.clock.now))} {
			defer func(stop func() error) {
				if err := stop(); err != nil {
					t.Error(err)
				}
			}(h.keep(r, nil))
		}
		time.Sleep(time.Minute)
		h.wantStatus(id, recovery.StatusRunning, 0)
		if owner := h.summary(id).Owner; owner != "" {
			t.Errorf("%s has it", owner)
		}
		if err := begins.Cancel(t.Context(), stopped); err != nil {
			t.Error(err)
		}
		h.wantStatus(stopped, recovery.StatusCancelled, 0)
		able := h.machine("able", recovery.Labels{"files": "builds", "gpu": "big", "network": "inside", "more": "x"})
		stop := h.keep(able, nil)
		time.Sleep(2 * time.Second)
		h.wantStatus(id, recovery.StatusCompleted, 1)
		if err := stop(); err != nil {
			t.Error(err)
		}
		if run, err := begins.Resume(t.Context(), id); err != nil {
			t.Error(err)
		} else if result, err := run.Wait(t.Context()); err != nil || result.Text != "built" {
			t.Errorf("what it came to is %q, %v", result.Text, err)
		}
	})
}

// TestNeedsOfNoMachine: what no machine can have is said before a run begins.
func TestNeedsOfNoMachine(t *testing.T) {
	h := newHarness(t)
	r := h.machine("m", nil, runner.WithTools(
		needing("one", recovery.Labels{"host": "a"}), needing("two", recovery.Labels{"host": "b"})))
	if _, err := r.Start(t.Context(), runner.Request{Prompt: "hi"}); err == nil || !strings.Contains(err.Error(), "no machine has both") {
		t.Error(err)
	}
	bad := h.machine("m", nil)
	if _, err := bad.Start(t.Context(), runner.Request{Prompt: "hi", Needs: recovery.Labels{"A": "b"}}); err == nil || !strings.Contains(err.Error(), `"A" is not a label`) {
		t.Error(err)
	}
}
