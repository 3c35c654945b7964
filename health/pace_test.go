package health_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/health"
)

func TestTurnsAreSpread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := health.New()
		if wait := h.Turn("acme/fable-1"); wait != 0 {
			t.Errorf("%v for a provider that is well", wait)
		}
		h.Failed("acme/fable-1", failureOf(failure.KindOverloaded), start)
		seconds := map[time.Duration]int{}
		last := time.Duration(-1)
		for range 1000 {
			wait := h.Turn("acme/fable-2") // it is the provider that has too much to do
			if wait <= last {
				t.Fatalf("a turn after %v follows one after %v", wait, last)
			}
			last = wait
			seconds[wait/time.Second]++
		}
		if n := h.Queued("acme"); n != 999 {
			t.Errorf("%d calls wait for their turn", n)
		}
		if time.Sleep(time.Second); h.Queued("acme") != 839 || h.Queued("acme-home") != 0 {
			t.Errorf("a second later %d wait", h.Queued("acme"))
		}
		for second, n := range seconds {
			if n > 200 {
				t.Errorf("%d turns in second %d", n, second)
			}
		}
		if wait := h.Turn("acme-home/fable-1"); wait != 0 {
			t.Errorf("another entry waits %v", wait)
		}
		time.Sleep(last + time.Minute)
		if wait := h.Turn("acme/fable-1"); wait != 0 {
			t.Errorf("%v long after the trouble", wait)
		}
	})
}

// TestTurnsThatNobodyWaitsFor: who calls seldom is never held up, trouble or not.
func TestTurnsThatNobodyWaitsFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := health.New()
		for range 100 {
			h.Failed("acme/fable-1", failureOf(failure.KindUnavailable), start)
			if wait := h.Turn("acme/fable-1"); wait != 0 {
				t.Fatalf("it waits %v", wait)
			}
			time.Sleep(10 * time.Millisecond)
		}
	})
}

func TestWhatTurnsAreFor(t *testing.T) {
	troubled := map[failure.Kind]bool{failure.KindRateLimit: true, failure.KindOverloaded: true, failure.KindUnavailable: true}
	for _, kind := range failure.Kinds() {
		for _, timer := range []failure.Timer{"", failure.TimerIdle} {
			synctest.Test(t, func(t *testing.T) {
				h := health.New()
				f := failureOf(kind)
				f.Timer = timer
				h.Failed("acme/fable-1", f, start)
				h.Turn("acme/fable-1")
				if waits := h.Turn("acme/fable-1") > 0; waits != (troubled[kind] && timer == "") {
					t.Errorf("%s, timer %q: the second call waits: %v", kind, timer, waits)
				}
			})
		}
	}
}
