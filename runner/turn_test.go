package runner_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
)

// crowded is a model that fails a number of calls at the same moment and answers all others.
type crowded struct {
	scripted
	mu    sync.Mutex
	fail  int
	times []time.Time
}

func newCrowded(fail int) *crowded {
	c := &crowded{fail: fail}
	c.steps = []step{func(ctx context.Context, hear func(llm.Delta) bool) error {
		c.mu.Lock()
		c.times = append(c.times, time.Now())
		n := len(c.times)
		c.mu.Unlock()
		if n <= c.fail {
			time.Sleep(time.Second)
			return overload
		}
		return answers("ok")(ctx, hear)
	}}
	return c
}

// TestAStormIsSpread: runs that are turned away together come back one after the other.
func TestAStormIsSpread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const crowd = 500
		model := newCrowded(crowd)
		r := runner.New(runner.WithModel(primary, model), runner.WithAutoRecover(true), runner.WithHook("h", advise(retryNow)))
		var group sync.WaitGroup
		for range crowd {
			group.Go(func() {
				if text, err := r.Run(t.Context(), "hi"); err != nil || text != "ok" {
					t.Errorf("got %q, %v", text, err)
				}
			})
		}
		group.Wait()
		if len(model.times) != 2*crowd {
			t.Fatalf("%d calls", len(model.times))
		}
		seconds := map[time.Duration]int{}
		for _, at := range model.times[crowd:] {
			seconds[at.Sub(model.times[0])/time.Second]++
		}
		for second, n := range seconds {
			if n > 200 {
				t.Errorf("%d calls in second %d", n, second)
			}
		}
	})
}

// TestI22WhoWaitsForATurnIsCancelledAtOnce: and its turn goes to the next one.
func TestI22WhoWaitsForATurnIsCancelledAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const crowd = 500
		model := newCrowded(crowd)
		r := runner.New(runner.WithModel(primary, model), runner.WithAutoRecover(true), runner.WithHook("h", advise(retryNow)))
		var runs []*runner.Run
		for range crowd {
			run, err := r.Start(t.Context(), runner.Request{Prompt: "hi"})
			if err != nil {
				t.Fatal(err)
			}
			runs = append(runs, run)
		}
		time.Sleep(1500 * time.Millisecond) // all have failed, and most wait
		began := time.Now()
		for _, run := range runs {
			if err := r.Cancel(t.Context(), run.ID()); err != nil {
				t.Fatal(err)
			}
		}
		cancelled := 0
		for _, run := range runs {
			if result, _ := run.Wait(t.Context()); result.Status == recovery.StatusCancelled {
				cancelled++
			}
		}
		if took := time.Since(began); took > time.Second || cancelled < crowd/2 {
			t.Errorf("%d runs are cancelled after %v", cancelled, took)
		}
		if n := len(model.times); n > 2*crowd-cancelled {
			t.Errorf("%d calls by %d runs, of which %d were cancelled", n, crowd, cancelled)
		}
	})
}
