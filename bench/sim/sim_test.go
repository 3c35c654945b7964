package sim

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
)

// defaultRuns keeps `make test` quick with the race detector.
const defaultRuns = 300

// mostReported is how many failures are shrunk and reported before the simulation ends.
const mostReported = 5

// TestSim plays seeds and checks the invariants; MULLIGAN_SIM_SEED plays one of them, or
// a recipe, verbosely.
func TestSim(t *testing.T) {
	if line := os.Getenv("MULLIGAN_SIM_SEED"); line != "" {
		r, err := parseRecipe(line)
		if err != nil {
			t.Fatal(err)
		}
		rec := play(t, r)
		t.Log("\n" + rec.String())
		if len(rec.wrong) > 0 {
			t.Fail()
		}
		return
	}
	runs := uint64(defaultRuns)
	if text := os.Getenv("MULLIGAN_SIM_RUNS"); text != "" {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatalf("MULLIGAN_SIM_RUNS: %v", err)
		}
		runs = n
	}
	simulate(t, runs)
}

func simulate(t *testing.T, runs uint64) {
	var next atomic.Uint64
	var settled tally
	var reported atomic.Int64
	began := time.Now()
	stop := progress(runs, &settled, began)
	defer stop()
	t.Run("seeds", func(t *testing.T) {
		for worker := range runtime.GOMAXPROCS(0) {
			t.Run(strconv.Itoa(worker), func(t *testing.T) {
				t.Parallel()
				for seed := next.Add(1); seed <= runs && reported.Load() < mostReported; seed = next.Add(1) {
					rec := play(t, of(seed))
					settled.add(rec)
					if len(rec.wrong) > 0 {
						reported.Add(1)
						report(t, rec)
					}
				}
			})
		}
	})
	t.Logf("seeds 1–%d, %.0f runs/s; %s", min(runs, next.Load()), float64(settled.runs.Load())/time.Since(began).Seconds(), settled.String())
}

// progress prints a line every 30 s of a long simulation, until stop is called.
func progress(runs uint64, settled *tally, began time.Time) (stop func()) {
	const long = 50_000
	if runs <= long {
		return func() {}
	}
	done := make(chan struct{})
	ticker := time.NewTicker(30 * time.Second)
	go func() {
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				so := settled.runs.Load()
				fmt.Fprintf(os.Stderr, "%d of %d runs, %.0f a second\n", so, runs, float64(so)/time.Since(began).Seconds())
			case <-done:
				return
			}
		}
	}()
	return func() { close(done) }
}

// tally counts how runs ended, to notice when worlds have become too easy.
type tally struct{ runs, events, completed, failed, cancelled, suggested, accepted, cuts, claimed, many, taken atomic.Int64 }

func (c *tally) add(rec record) {
	c.runs.Add(1)
	c.events.Add(int64(len(rec.events)))
	if rec.many {
		c.many.Add(1)
		c.taken.Add(int64(rec.taken))
	}
	for _, e := range rec.events {
		switch b := e.Body.(type) {
		case recovery.Suggested:
			c.suggested.Add(1)
		case recovery.Accepted:
			c.accepted.Add(1)
		case recovery.Failed:
			if b.Failure.Variant == "cut_short" {
				c.cuts.Add(1)
			}
		case recovery.Claimed:
			c.claimed.Add(1)
		case recovery.Ended:
			switch b.Status {
			case recovery.StatusCompleted:
				c.completed.Add(1)
			case recovery.StatusFailed:
				c.failed.Add(1)
			case recovery.StatusCancelled:
				c.cancelled.Add(1)
			}
		}
	}
}

func (c *tally) String() string {
	return fmt.Sprintf("%d runs, %d events: %d completed, %d failed, %d cancelled; %d suggestions, %d answers, %d of them to slow calls, %d times claimed; %d runs over several machines, taken over %d times",
		c.runs.Load(), c.events.Load(), c.completed.Load(), c.failed.Load(), c.cancelled.Load(),
		c.suggested.Load(), c.accepted.Load(), c.cuts.Load(), c.claimed.Load(), c.many.Load(), c.taken.Load())
}
