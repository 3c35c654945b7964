package runner_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mulligan-run/mulligan/health"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/timeline"
	"github.com/mulligan-run/mulligan/timeline/timelinetest"
)

// steps is a log that remembers which events were written in one step each.
type steps struct {
	timeline.Log
	mu  sync.Mutex
	all []string
}

func (s *steps) step(events []recovery.Event) {
	var types []string
	for _, e := range events {
		types = append(types, e.Type())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, strings.Join(types, " "))
}

func (s *steps) Append(ctx context.Context, l timeline.Lease, after uint64, events ...recovery.Event) error {
	s.step(events)
	return s.Log.Append(ctx, l, after, events...)
}

func (s *steps) Begin(
	ctx context.Context, run, owner string, ttl time.Duration, first func(timeline.Lease) []recovery.Event,
) (timeline.Lease, error) {
	l, err := s.Log.Begin(ctx, run, owner, ttl, first)
	if err == nil {
		s.step(first(l))
	}
	return l, err
}

// paced is a health that has every first call wait for its turn.
type paced struct {
	*health.Health
	turns int
}

func (p *paced) Turn(string) time.Duration {
	p.turns++
	return time.Second
}

// TestOpening: a run's beginning and the intent of its first call are one step, unless the
// call has to wait for its turn or for what is left of the day.
func TestOpening(t *testing.T) {
	const joined, alone = "started claimed began", "started claimed"
	for _, c := range []struct {
		name string
		opt  runner.Option
		want []string
		wait time.Duration
	}{
		{"at once", runner.WithAutoRecover(false), []string{joined}, 0},
		{"its turn", runner.WithHealth(&paced{Health: health.New()}), []string{alone, "began"}, time.Second},
		{"a day's budget", runner.WithDayBudget(recovery.Budget{Tokens: 1000}), []string{alone, "began"}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				log, model := &steps{Log: timeline.NewMemory()}, newCrowded(0)
				r := runner.New(runner.WithModel(primary, model), runner.WithLog(log), c.opt)
				began := time.Now()
				if text, err := r.Run(t.Context(), "hi"); err != nil || text != "ok" {
					t.Fatalf("got %q, %v", text, err)
				}
				if n := len(c.want); len(log.all) < n || !slices.Equal(log.all[:n], c.want) {
					t.Errorf("written were %q", log.all)
				}
				if len(model.times) != 1 || model.times[0].Sub(began) != c.wait {
					t.Errorf("called %v after it began", model.times[0].Sub(began))
				}
			})
		})
	}
}

// TestOpeningTakesOneTurn: the turn that was taken for the first call is that call's.
func TestOpeningTakesOneTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &paced{Health: health.New()}
		r := runner.New(runner.WithModel(primary, newCrowded(0)), runner.WithHealth(p))
		if _, err := r.Run(t.Context(), "hi"); err != nil {
			t.Fatal(err)
		}
		if p.turns != 1 {
			t.Errorf("%d turns were taken", p.turns)
		}
	})
}

// TestNoCallOfARunThatDidNotBegin: what could not be written does not happen (I05).
func TestNoCallOfARunThatDidNotBegin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := timelinetest.NewFaulty(timeline.NewMemory(), func(int) timelinetest.Fault {
			return timelinetest.Fault{Err: errors.New("disk full")}
		})
		model := newCrowded(0)
		r := runner.New(runner.WithModel(primary, model), runner.WithLog(broken))
		if _, err := r.Start(t.Context(), runner.Request{Prompt: "hi"}); err == nil {
			t.Error("it began")
		}
		time.Sleep(time.Minute)
		if n := len(model.times); n != 0 {
			t.Errorf("%d calls", n)
		}
	})
}
