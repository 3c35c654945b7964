package runner_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/timeline"
)

// inBulk is a tenant of a log that hands out many runs at once.
type inBulk struct {
	tenant
	mu     sync.Mutex
	most   int // that it gave at once
	claims int // one by one
}

func (l *inBulk) Claim(ctx context.Context, run, owner string, ttl time.Duration) (timeline.Lease, error) {
	l.mu.Lock()
	l.claims++
	l.mu.Unlock()
	return l.tenant.Claim(ctx, run, owner, ttl)
}

func (l *inBulk) ClaimDue(ctx context.Context, owner string, ttl time.Duration, at time.Time, waiting bool, able recovery.Labels, limit int, but ...string) (claimed []timeline.Claimed, can bool, err error) {
	list, err := l.List(ctx, timeline.Query{Due: at, Able: able, Limit: 10_000})
	if err != nil {
		return nil, true, err
	}
	for _, s := range list {
		if (s.Status == recovery.StatusWaiting) != waiting || slices.Contains(but, s.Run) || len(claimed) == limit {
			continue
		}
		if lease, err := l.tenant.Claim(ctx, s.Run, owner, ttl); err == nil {
			claimed = append(claimed, timeline.Claimed{Lease: lease, Status: s.Status})
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.most = max(l.most, len(claimed))
	return claimed, true, nil
}

func (h *harness) processInBulk(name string) (*runner.Runner, *inBulk) {
	log := &inBulk{tenant: tenant{h.log, name}}
	return runner.New(runner.WithModel(primary, h.model), runner.WithModel(secondary, h.other), runner.WithAutoRecover(true),
		runner.WithHook("h", advise(retryNow)), runner.WithLog(log), runner.WithClock(h.clock.now)), log
}

// TestKeepClaimsInBulk: the runs that a crash left are claimed by two keepers in a few steps, and
// each is continued once.
func TestKeepClaimsInBulk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const runs = 1200
		h := newHarness(t, answers("whole"))
		h.crashAll(runs)
		time.Sleep(16 * time.Second)
		one, first := h.processInBulk("serve 1")
		other, second := h.processInBulk("serve 2")
		stops := []func() error{h.keep(one, nil), h.keep(other, nil)}
		time.Sleep(3 * time.Second)
		h.wantStatus("r0", recovery.StatusCompleted, runs)
		for _, stop := range stops {
			if err := stop(); err != nil {
				t.Error(err)
			}
		}
		if first.claims+second.claims > 0 || first.most != 250 || second.most != 250 {
			t.Errorf("%d and %d were claimed one by one, at most %d and %d at once", first.claims, second.claims, first.most, second.most)
		}
	})
}

// TestKeepGivesBackWhatItClaimed: a keeper that ends also gives back at once the runs that it
// claimed and has not begun to drive, and another continues all of them within two polls.
func TestKeepGivesBackWhatItClaimed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const runs = 100
		h := newHarness(t, answers("whole"))
		h.crashAll(runs)
		time.Sleep(16 * time.Second)
		one, _ := h.processInBulk("serve 1")
		stop := h.keep(one, nil)
		time.Sleep(50 * time.Millisecond) // some of them have begun
		if err := stop(); err != nil {
			t.Error(err)
		}
		if begun := len(h.model.calls()); begun == 0 || begun == runs {
			t.Fatalf("%d were begun with", begun)
		}
		other, _ := h.processInBulk("serve 2")
		stop = h.keep(other, nil)
		time.Sleep(2 * time.Second)
		for i := range runs {
			if s := h.summary(fmt.Sprint("r", i)); s.Status != recovery.StatusCompleted {
				t.Errorf("run %s is %s", s.Run, s.Status)
			}
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

// TestKeepHandsOverAtOnce: a run that a keeper lets go of in the middle of an answer is continued
// elsewhere within a second.
func TestKeepHandsOverAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, stalls("Hello wor"), answers("whole"))
		h.crash("r")
		time.Sleep(16 * time.Second)
		one, _ := h.processInBulk("serve 1")
		stop := h.keep(one, nil)
		h.wantStatus("r", recovery.StatusRunning, 1)
		other, _ := h.processInBulk("serve 2")
		defer h.keep(other, nil)()
		began := time.Now()
		if err := stop(); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Second - time.Since(began))
		h.wantStatus("r", recovery.StatusCompleted, 2)
	})
}

// TestKeepFindsItsOwn: runs that are not claimed in bulk are found a little later.
func TestKeepFindsItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, answers("whole"))
		r, log := h.processInBulk("serve")
		stop := h.keep(r, nil)
		h.crash("r")
		mine := &onlyOnes{inBulk: log}
		other := runner.New(runner.WithModel(primary, h.model), runner.WithAutoRecover(true), runner.WithHook("h", advise(retryNow)), runner.WithLog(mine), runner.WithClock(h.clock.now))
		if err := stop(); err != nil {
			t.Error(err)
		}
		stop = h.keep(other, nil)
		time.Sleep(30 * time.Second)
		h.wantStatus("r", recovery.StatusCompleted, 1)
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

// onlyOnes gives nothing in bulk, as a store does of what its own process had.
type onlyOnes struct{ *inBulk }

func (onlyOnes) ClaimDue(context.Context, string, time.Duration, time.Time, bool, recovery.Labels, int, ...string) ([]timeline.Claimed, bool, error) {
	return nil, true, nil
}

// TestHandOver: a runner that owns no runs writes what begins one and what a person answers, asks no
// model, and leaves the rest to whoever keeps the log.
func TestHandOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, fails("", overload), answers("whole"))
		gate := runner.New(runner.WithModel(primary, h.model), runner.WithLog(tenant{h.log, "gateway"}), runner.WithClock(h.clock.now), runner.WithHandOver())
		start := func() string {
			run, err := gate.Start(t.Context(), runner.Request{Prompt: "hi"})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := run.Wait(t.Context()); !errors.Is(err, runner.ErrLetGo) {
				t.Errorf("its Wait says %v", err)
			}
			return run.ID()
		}
		id, cancelled := start(), start()
		h.wantStatus(id, recovery.StatusRunning, 0)
		if err := gate.Cancel(t.Context(), cancelled); err != nil {
			t.Error(err)
		}
		h.wantStatus(cancelled, recovery.StatusCancelled, 0)
		stop := h.keep(runner.New(runner.WithModel(primary, h.model), runner.WithLog(tenant{h.log, "worker"}), runner.WithClock(h.clock.now)), nil)
		time.Sleep(2 * time.Second)
		h.wantStatus(id, recovery.StatusFailed, 1) // and a person is asked
		run, err := gate.Recover(t.Context(), id, runner.Answer{Suggestion: h.summary(id).Asking, Action: recovery.ButtonRetry})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := run.Wait(t.Context()); !errors.Is(err, runner.ErrLetGo) {
			t.Errorf("its Wait says %v", err)
		}
		h.wantStatus(id, recovery.StatusRunning, 1)
		time.Sleep(2 * time.Second)
		h.wantStatus(id, recovery.StatusCompleted, 2)
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}
