package host

import (
	"context"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/hooks"
)

// PL-5: a plugin is killed again and again while many ask it. Every call ends in time, and the
// plugin is asked again once it is no longer killed.
func TestPL5RestartUnderLoad(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts processes")
	}
	kills, askers := 5, 20
	if simRuns() > 0 {
		kills = 100
	}
	const deadline = 3 * time.Second
	h := New()
	t.Cleanup(func() { _ = h.Close() })
	spec := faultySpec("ok", "")
	spec.Deadline = deadline
	spec.Restart = RestartPolicy{Max: 100, Window: time.Second, First: 10 * time.Millisecond, Most: 50 * time.Millisecond}
	spec.Breaker = BreakerPolicy{After: 20, Open: 100 * time.Millisecond, Most: 100 * time.Millisecond}
	if err := h.Add(spec); err != nil {
		t.Fatal(err)
	}
	if err := h.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var answered, failed, late atomic.Int64
	var wg sync.WaitGroup
	for range askers {
		wg.Go(func() {
			for ctx.Err() == nil {
				began := time.Now()
				if _, err := h.Hooks()[0].Hook.Advise(t.Context(), hooks.RunError{}); err != nil {
					failed.Add(1)
					time.Sleep(5 * time.Millisecond)
				} else {
					answered.Add(1)
				}
				if time.Since(began) > deadline+busy {
					late.Add(1)
				}
			}
		})
	}
	for range kills {
		time.Sleep(100 * time.Millisecond)
		if pid := h.Statuses()[0].PID; pid > 0 {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	waitFor(t, "the plugin's last start", func() bool { return h.Statuses()[0].State == StateReady })
	before := answered.Load()
	waitFor(t, "an answer after it", func() bool { return answered.Load() > before })
	cancel()
	wg.Wait()
	if late.Load() > 0 || h.Statuses()[0].Restarts == 0 {
		t.Errorf("%d late, %d answered, %d failed: %+v", late.Load(), answered.Load(), failed.Load(), h.Statuses()[0])
	}
}
