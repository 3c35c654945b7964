package main

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/mulligan-run/mulligan/sdk/go/client"
)

// Limits for the delays of steady runs.
const (
	calmRuns  = 200 // with this many runs the delay must be at most calmMost
	calmMost  = 5 * time.Millisecond
	heavyMost = 20 * time.Millisecond
	floorRuns = 300
	aimRuns   = 1000
)

// steady keeps a number of runs streaming: when one ends, the next begins. What is sent or
// begun within the window is measured.
type steady struct {
	runs     int
	from, to time.Time

	first times // added to the first token: before the request reaches the provider, and after the provider's first token
	delta times // from the provider to the follower
	asked times // from the request for a run until its request reaches the provider
	mem   float64
	bare  *bare
	busy  int64 // how often the gateway was too busy to begin a run
	burnt string
}

// steadily keeps that many runs going for a while. Their starts are spread over the length
// of one run.
func (l *lot) steadily(ctx context.Context, runs int) *steady {
	length := time.Duration(l.plan.words) * steadyPace
	begun := time.Now()
	s := &steady{runs: runs, from: begun.Add(length + time.Second)}
	busy := l.gateway.busy.Load()
	s.to = s.from.Add(l.plan.window)
	var group sync.WaitGroup
	for i := range runs {
		group.Go(func() {
			sleep(ctx, scattered(i, length))
			for time.Now().Before(s.to) && ctx.Err() == nil {
				l.oneSteady(ctx, s)
			}
		})
	}
	sleep(ctx, time.Until(s.from))
	before := l.burned()
	for time.Now().Before(s.to) && ctx.Err() == nil {
		s.mem = max(s.mem, residentMiB(l.gateway.cmd.Process.Pid))
		sleep(ctx, 250*time.Millisecond)
	}
	s.burnt = l.burned().since(before)
	group.Wait()
	s.busy = l.gateway.busy.Load() - busy
	return s
}

// oneSteady follows one run to its end.
func (l *lot) oneSteady(ctx context.Context, s *steady) {
	begun := time.Now()
	run, err := l.gateway.start(ctx, labEntry+"/"+steadyModel)
	if err != nil {
		l.wrong.add("a run does not begin: %v", err)
		sleep(ctx, time.Second)
		return
	}
	var lags []time.Duration
	f := &follower{wrong: &l.wrong, run: run, screen: &client.View{}, lag: func(sent time.Time, lag time.Duration) {
		if s.within(sent) {
			lags = append(lags, lag)
		}
	}}
	f.follow(ctx, l.gateway)
	f.settled()
	s.delta.add(lags...)
	if s.within(begun) && !f.asked.IsZero() {
		s.asked.add(f.asked.Sub(begun))
		s.first.add(f.asked.Sub(begun) + f.first)
	}
}

func (s *steady) within(at time.Time) bool { return !at.Before(s.from) && at.Before(s.to) }

// late is the delay that counts: the larger of the two at p99.
func (s *steady) late() time.Duration { return max(s.first.at(0.99), s.delta.at(0.99)) }

// rate is how many deltas per second reached followers.
func (s *steady) rate() float64 { return float64(s.delta.count()) / s.to.Sub(s.from).Seconds() }

func (s *steady) line() line {
	target, met := "", ""
	if s.runs == calmRuns {
		target, met = "p99 ≤ "+millis(calmMost), verdict(s.late() <= calmMost)
	} else if s.runs >= floorRuns {
		target, met = "p99 ≤ "+millis(heavyMost), verdict(s.late() <= heavyMost)
	}
	again := ""
	if s.busy > 0 {
		again = fmt.Sprintf("; %d starts put off", s.busy)
	}
	return line{
		fmt.Sprintf("%d runs at 20 deltas/s", s.runs),
		fmt.Sprintf("first token %s; delta %s; %.0f deltas/s%s", spread(&s.first), spread(&s.delta), s.rate(), again),
		fmt.Sprintf("first token %s; delta %s", spread(&s.bare.first), spread(&s.bare.delta)), target, met, s.burnt,
	}
}

// steadyLines are the table's lines for the steps, and what follows from them.
func (l *lot) steadyLines(ctx context.Context) []line {
	var lines []line
	most, largest := 0, &steady{}
	for _, runs := range l.plan.steps {
		l.progress("%d runs stream at 20 deltas/s", runs)
		bare := l.streamDirectly(ctx, runs)
		s := l.steadily(ctx, runs)
		s.bare = bare
		if s.late() <= heavyMost && s.delta.count() > 0 {
			most = runs
		}
		largest = s
		lines = append(lines, s.line())
		if ctx.Err() != nil {
			break
		}
	}
	disk := "a durable write: " + spread(l.disk)
	each := (largest.mem - l.idle) * 1024 / float64(largest.runs)
	return append(lines,
		line{"most runs within 20 ms at p99", fmt.Sprint(most), "", fmt.Sprintf("%d, at least %d", aimRuns, floorRuns), verdict(most >= aimRuns) + floor(most)},
		line{"start asked for → provider asked", spread(&largest.asked) + fmt.Sprintf(" at %d runs", largest.runs), disk},
		line{
			"memory of a run, its follower included", fmt.Sprintf("%.0f KiB (%.0f MiB for %d, %.0f MiB without any)", each, largest.mem, largest.runs, l.idle),
			"", "≤ 256 KiB and its text", verdict(each <= 256),
		})
}

func floor(most int) string {
	if most < aimRuns && most >= floorRuns {
		return ", above the floor"
	}
	return ""
}

// scattered is when the i-th of many begins within a time. Starts are spread by the golden
// ratio: with a fixed distance, a few of which add up to the time between two deltas, the
// deltas of all runs would come at the same moments.
func scattered(i int, within time.Duration) time.Duration {
	_, at := math.Modf(float64(i) * math.Phi)
	return time.Duration(at * float64(within))
}

// sleep pauses, or returns early when ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
