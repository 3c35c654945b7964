package runner_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/timeline"
)

// slowLog is a log in which each step takes some milliseconds, so that the steps of two processes
// come in any order.
type slowLog struct {
	timeline.Log
	mu   *sync.Mutex
	dice *rand.Rand
}

func (l slowLog) pause() {
	l.mu.Lock()
	d := time.Duration(l.dice.IntN(30)) * time.Millisecond
	l.mu.Unlock()
	time.Sleep(d)
}

func (l slowLog) Claim(ctx context.Context, run, owner string, ttl time.Duration) (timeline.Lease, error) {
	l.pause()
	defer l.pause()
	return l.Log.Claim(ctx, run, owner, ttl)
}

func (l slowLog) Release(ctx context.Context, lease timeline.Lease) error {
	l.pause()
	defer l.pause()
	return l.Log.Release(ctx, lease)
}

func (l slowLog) Append(ctx context.Context, lease timeline.Lease, after uint64, events ...recovery.Event) error {
	l.pause()
	defer l.pause()
	return l.Log.Append(ctx, lease, after, events...)
}

func (l slowLog) Inbox(ctx context.Context, run string, after uint64, limit int) ([]timeline.Command, error) {
	l.pause()
	defer l.pause()
	return l.Log.Inbox(ctx, run, after, limit)
}

func (l slowLog) Send(ctx context.Context, run string, c timeline.Command) (uint64, error) {
	l.pause()
	defer l.pause()
	return l.Log.Send(ctx, run, c)
}

// TestI52WithinASecond: an answer that another process gives at any moment around a run's being
// parked is acted on within a second, in whichever order the steps of the two come.
func TestI52WithinASecond(t *testing.T) {
	const most = time.Second
	for seed := range uint64(60) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHarness(t)
				h.model.steps = []step{h.quota(time.Hour), answers("again")}
				h.log = slowLog{h.log, &sync.Mutex{}, rand.New(rand.NewPCG(seed, 52))} //nolint:gosec // a seed that can be told
				owner, other := h.process("one"), h.process("two")
				run, err := owner.Start(t.Context(), runner.Request{Prompt: "hi"})
				if err != nil {
					t.Fatal(err)
				}
				waits(t, run)
				time.Sleep(time.Duration(seed) * 8 * time.Millisecond)
				sent := h.clock.now()
				_, err = other.Recover(t.Context(), run.ID(), runner.Answer{Action: recovery.ButtonRetryNow})
				if err != nil && !errors.Is(err, runner.ErrSent) { // whoever drives it goes on with it
					t.Error(err)
				}
				time.Sleep(5 * time.Second)
				taken(t, h.log, run.ID(), sent, most)
				h.wantStatus(run.ID(), recovery.StatusCompleted, 2)
			})
		})
	}
}

func waits(t *testing.T, run *runner.Run) {
	t.Helper()
	for item, err := range run.Events() {
		if err != nil {
			t.Fatal(err)
		}
		if item.Event == nil {
			continue
		}
		if _, is := item.Event.Body.(recovery.Waiting); is {
			return
		}
	}
	t.Fatal("it never waited")
}

func taken(t *testing.T, log timeline.Log, run string, sent time.Time, most time.Duration) {
	t.Helper()
	events, err := log.Read(t.Context(), run, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if _, is := e.Body.(recovery.Accepted); is {
			if took := e.Time.Sub(sent); took > most {
				t.Errorf("it was taken after %v", took)
			}
			return
		}
	}
	t.Error("it was never taken")
}
