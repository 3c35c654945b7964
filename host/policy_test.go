package host

import (
	"context"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mulligan-run/mulligan/hooks"
)

func TestPoliciesAreBroughtIntoRange(t *testing.T) {
	if got, want := (RestartPolicy{}).orDefaults(), (RestartPolicy{3, 10 * time.Minute, 250 * time.Millisecond, 5 * time.Second}); got != want {
		t.Errorf("%+v", got)
	}
	if got, want := (BreakerPolicy{}).orDefaults(), (BreakerPolicy{3, time.Minute, 10 * time.Minute}); got != want {
		t.Errorf("%+v", got)
	}
	for _, n := range []int{math.MinInt, -1, 1, math.MaxInt} {
		d := time.Duration(n)
		r, b, l := RestartPolicy{n, d, d, d}.orDefaults(), BreakerPolicy{n, d, d}.orDefaults(), Limits{int64(n), n, n, int64(n)}.orDefaults()
		if r.Max < 1 || r.Max > 100 || r.Window < time.Second || r.First < 10*time.Millisecond || r.Most < r.First || r.Most > time.Hour {
			t.Errorf("%d: %+v", n, r)
		}
		if b.After < 1 || b.After > 20 || b.Open < 100*time.Millisecond || b.Most < b.Open {
			t.Errorf("%d: %+v", n, b)
		}
		if l.Memory < 16<<20 || l.Processes < 8 || l.Files < 32 || l.FileSize < 1<<20 {
			t.Errorf("%d: %+v", n, l)
		}
	}
}

func TestRestartsBackOffWithJitter(t *testing.T) {
	r := newRestarts(Spec{})
	now := time.Now()
	seen := map[time.Duration]bool{}
	for n, step := range []time.Duration{250 * time.Millisecond, 500 * time.Millisecond, time.Second} {
		for range 50 {
			r.ended(now)
			wait := r.next.Sub(now)
			seen[wait] = true
			if wait < step || wait > step+step/4 {
				t.Errorf("restart %d: after %v", n, wait)
			}
		}
		if r.spent(now) {
			t.Errorf("spent after %d", n)
		}
		r.begin(now)
	}
	if len(seen) < 50 {
		t.Error("no jitter")
	}
	if !r.spent(now) || r.spent(now.Add(10*time.Minute+time.Second)) || r.total != 3 {
		t.Errorf("%+v", r)
	}
}

// PL-4: what a plugin that always fails adds to 1 000 runs, one every second: three
// deadlines, and one more for each trial call, whose pauses double.
func TestPL4ABrokenPluginCostsLittle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := supervise(Spec{Name: "p", Command: []string{"p"}, Deadline: 2 * time.Second}, newFolders(), New().logger, unchanged, func() {})
		s.starting = &attempt{done: make(chan struct{})} // for ever: the worst of them
		s.begun = true
		var added time.Duration
		failed := 0
		for range 1000 {
			began := time.Now()
			if _, err := s.Advise(t.Context(), hooks.RunError{}); err == nil {
				t.Fatal("an answer")
			}
			if took := time.Since(began); took > 0 {
				failed++
				added += took
			}
			time.Sleep(time.Second)
		}
		// 1 000 s hold trials after 1, 3, 7 and 15 minutes.
		if failed != 3+4 || added != 7*2*time.Second {
			t.Errorf("%d calls were waited for, %v in all", failed, added)
		}
		if got := s.breaker.state(time.Now()); got != BreakerOpen {
			t.Error(got)
		}
		time.Sleep(10 * time.Minute)
		if got := s.breaker.state(time.Now()); got != BreakerHalfOpen {
			t.Error(got)
		}
	})
}

// A caller that gave up waiting says nothing about the plugin.
func TestACancelledCallIsNoFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := supervise(Spec{Name: "p", Command: []string{"p"}}, newFolders(), New().logger, unchanged, func() {})
		s.starting, s.begun = &attempt{done: make(chan struct{})}, true
		for range 10 {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Second, cancel)
			_, _ = s.Advise(ctx, hooks.RunError{})
		}
		if s.breaker.failures != 0 || s.lastError != "" {
			t.Errorf("%+v %s", s.breaker, s.lastError)
		}
	})
}
