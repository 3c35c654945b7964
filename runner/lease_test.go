package runner_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/timeline"
)

// countingTenant is a tenant that counts the requests for leases; its store may refuse them.
type countingTenant struct {
	tenant
	renewed, kept atomic.Int32
	deaf          atomic.Bool
}

var errDeaf = &timeline.StoreError{Kind: timeline.ErrGone, Reason: "it is away"}

func (l *countingTenant) Renew(ctx context.Context, lease timeline.Lease, ttl time.Duration) (timeline.Lease, error) {
	if l.deaf.Load() {
		return timeline.Lease{}, errDeaf
	}
	l.renewed.Add(1)
	return l.tenant.Renew(ctx, lease, ttl)
}

func (l *countingTenant) Keep(ctx context.Context, owner string, ttl time.Duration) (timeline.Kept, error) {
	if l.deaf.Load() {
		return timeline.Kept{}, errDeaf
	}
	l.kept.Add(1)
	return l.tenant.Keep(ctx, owner, ttl)
}

// takes says something after so long.
func takes(d time.Duration) step {
	return func(ctx context.Context, hear func(llm.Delta) bool) error {
		hear(llm.Delta{Kind: llm.DeltaStart})
		select {
		case <-time.After(d):
		case <-ctx.Done():
			return ctx.Err()
		}
		return answers("at last")(ctx, hear)
	}
}

// tenants are many runs of one process, whose answers take so long.
func (h *harness) tenants(runs int, ttl, answer time.Duration) (*countingTenant, []*runner.Run) {
	log := &countingTenant{tenant: tenant{h.log, "one"}}
	r := runner.New(runner.WithModel(primary, script(takes(answer))), runner.WithAutoRecover(true), runner.WithHook("h", advise(retryNow)), runner.WithLog(log), runner.WithClock(h.clock.now), runner.WithLease(ttl),
		runner.WithPolicy(func(p *recovery.Policy) { p.Timeouts = recovery.Timeouts{} }))
	all := make([]*runner.Run, runs)
	for i := range all {
		run, err := r.Start(h.Context(), runner.Request{Prompt: "hi"})
		if err != nil {
			h.Fatal(err)
		}
		all[i] = run
	}
	return log, all
}

// TestLeasesAreKeptTogether: many long runs cost a write each, and one now and then for all of
// them; nobody takes one, and when the last is over nothing is kept.
func TestLeasesAreKeptTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const runs, ttl, answer = 50, 5 * time.Second, 10 * time.Minute
		h := newHarness(t, answers("taken"))
		log, all := h.tenants(runs, ttl, answer)
		stop := h.keep(h.process("other"), nil)
		for _, run := range all {
			if result, err := run.Wait(t.Context()); err != nil || result.Text != "at last" {
				t.Errorf("I36: %q, %v", result.Text, err)
			}
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
		renewed, kept := log.renewed.Load(), log.kept.Load()
		if seconds := int32(answer / time.Second); renewed < runs || renewed > 2*runs || kept < seconds/2 || kept > seconds+2 {
			t.Errorf("%d runs were renewed %d times, and all of them kept %d times", runs, renewed, kept)
		}
		time.Sleep(time.Hour)
		if now := log.kept.Load(); now != kept {
			t.Errorf("nothing is driven, and it was kept %d times more", now-kept)
		}
	})
}

// TestALeaseThatWasOverIsNotKept: a process that could not reach its store for longer than a lease
// finds its runs taken, also those of which nothing was to be written.
func TestALeaseThatWasOverIsNotKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const runs, ttl = 20, 5 * time.Second
		h := newHarness(t, answers("taken"))
		log, all := h.tenants(runs, ttl, time.Hour)
		stop := h.keep(h.process("other"), nil)
		time.Sleep(time.Minute)
		h.wantStatus(all[0].ID(), recovery.StatusRunning, 0)
		log.deaf.Store(true)
		time.Sleep(ttl + 2*time.Second)
		log.deaf.Store(false)
		began := time.Now()
		for _, run := range all {
			if _, err := run.Wait(t.Context()); !errors.Is(err, timeline.ErrStale) {
				t.Errorf("I36: %v", err)
			}
		}
		if late := time.Since(began); late > ttl {
			t.Errorf("I36: its process drove them for %s more", late)
		}
		h.wantStatus(all[0].ID(), recovery.StatusCompleted, runs)
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}
