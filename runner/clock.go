package runner

import (
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/recovery"
)

// clock is the time of a run while it is driven. It starts with the wall clock's time and then
// follows the monotonic clock, so that setting the wall clock moves no deadline. Time in which the
// computer slept is added when the run is told about it.
type clock struct {
	wall  time.Time // when it was made
	since time.Time // the same moment, on the monotonic clock
	slept func() time.Duration
	base  time.Duration // the value of slept at that moment
	told  time.Duration // sleep that the run has been told about
}

func newClock(wall time.Time, slept func() time.Duration) *clock {
	return &clock{wall: wall.UTC().Round(0), since: time.Now(), slept: slept, base: slept()}
}

func (c *clock) now() time.Time {
	return c.wall.Add(time.Since(c.since) + c.told)
}

// real is now, including sleep that the run has not been told about yet. Everything outside the run
// uses this time.
func (c *clock) real() time.Time {
	return c.wall.Add(time.Since(c.since) + c.slept() - c.base)
}

// later is the later of two times. If the wall clock was set back, a run continues from the time in
// its log: its time never goes back.
func later(x, y time.Time) time.Time {
	if x.Before(y) {
		return y
	}
	return x
}

// news gives the sleep that the run has not been told about, if it is long enough to matter.
func (c *clock) news() (recovery.Slept, bool) {
	const worth = time.Second
	fresh := c.slept() - c.base - c.told
	if fresh < worth {
		return recovery.Slept{}, false
	}
	c.told += fresh
	return recovery.Slept{For: failure.InMillis(fresh)}, true
}
