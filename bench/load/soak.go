package main

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os/exec"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/sdk/go/client"
)

const (
	soakRuns    = 200
	soakSample  = time.Second
	pluginLives = 10 * time.Second // until it is killed
	slopeMost   = 1.0              // MiB per minute
	driftMost   = 0.1              // as a fraction of the mean, over the observed time
)

// soak is the state of a gateway while runs come and go, fail, and lose their plugin.
type soak struct {
	ended, failed, asked atomic.Int64 // runs; how many failed; suggestions that were answered
	killed               int          // plugins

	mem, goroutines, files trend
}

// soakLines keeps runs going for a long time. Resources are watched only after three eighths
// of the time, because until then the gateway still grows to its working size.
func (l *lot) soakLines(ctx context.Context) []line {
	l.progress("%d runs at a time, some of which fail, for %s; their plugin is killed every %s", soakRuns, l.plan.soak, pluginLives)
	s, before, begun := &soak{}, l.burned(), time.Now()
	until := begun.Add(l.plan.soak)
	var group sync.WaitGroup
	for i := range soakRuns {
		group.Go(func() {
			sleep(ctx, soakWords*steadyPace*time.Duration(i)/soakRuns)
			for time.Now().Before(until) && ctx.Err() == nil {
				l.oneSoak(ctx, s)
			}
		})
	}
	l.watchSoak(ctx, s, begun, until)
	burnt := l.burned().since(before)
	group.Wait()
	return []line{
		{
			fmt.Sprintf("%d runs at a time for %s", soakRuns, l.plan.soak),
			fmt.Sprintf("%d runs ended, of them %d failed; %d suggestions taken; %d plugins killed", s.ended.Load(), s.failed.Load(), s.asked.Load(), s.killed),
			"", "nothing wrong", verdict(s.ended.Load() > 0 && s.killed > 0), burnt,
		},
		{"its memory", fmt.Sprintf("%+.2f MiB/min (%.0f MiB)", s.mem.slope(), s.mem.mean()), "", "< 1 MiB/min", verdict(s.mem.slope() < slopeMost)},
		s.goroutines.flat("its goroutines"),
		s.files.flat("its open files"),
	}
}

// watchSoak measures, and keeps killing the plugin.
func (l *lot) watchSoak(ctx context.Context, s *soak, begun, until time.Time) {
	pid := l.gateway.cmd.Process.Pid
	kill := begun.Add(pluginLives)
	for time.Now().Before(until) && ctx.Err() == nil {
		sleep(ctx, soakSample)
		if time.Now().After(kill) {
			kill = kill.Add(pluginLives)
			for _, plugin := range childrenOf(ctx, pid) {
				if syscall.Kill(plugin, syscall.SIGKILL) == nil {
					s.killed++
				}
			}
		}
		at := time.Since(begun)
		if at < l.plan.soak*3/8 {
			continue
		}
		s.mem.add(at, residentMiB(pid))
		for name, of := range map[string]*trend{"go_goroutines": &s.goroutines, "process_open_fds": &s.files} {
			if n, err := l.gateway.metric(ctx, name); err == nil { // not every system reports files
				of.add(at, n)
			}
		}
	}
}

// oneSoak brings one run to its end. It answers a suggestion; if that is not possible,
// it cancels the run.
func (l *lot) oneSoak(ctx context.Context, s *soak) {
	run, err := l.gateway.start(ctx, labEntry+"/"+soakModel)
	if err != nil {
		l.wrong.add("a run does not begin: %v", err)
		sleep(ctx, time.Second)
		return
	}
	f := &follower{wrong: &l.wrong, run: run, screen: &client.View{}, lag: func(time.Time, time.Duration) {}}
	f.told = func(e recovery.Event) {
		offered, ok := e.Body.(recovery.Suggested)
		if !ok {
			return
		}
		s.asked.Add(1)
		answer := client.Answer{Suggestion: offered.Suggestion.ID, Action: string(recovery.ActionRetry)}
		if l.gateway.client.Recover(ctx, run, answer) == nil {
			return
		}
		if err := l.gateway.client.Cancel(ctx, run); err != nil {
			l.wrong.add("run %s, whose suggestion cannot be taken, is not cancelled: %v", run, err)
		}
	}
	f.follow(ctx, l.gateway)
	if ctx.Err() != nil {
		return
	}
	s.ended.Add(1)
	switch end := f.screen.State.End; {
	case end == nil:
		l.wrong.add("run %s has no end", run)
	case end.Status != recovery.StatusCompleted:
		s.failed.Add(1)
	}
}

// childrenOf are the running processes that a process started.
func childrenOf(ctx context.Context, pid int) (children []int) {
	text, err := exec.CommandContext(ctx, "ps", "-A", "-o", "pid=,ppid=").Output()
	if err != nil {
		return nil
	}
	for row := range bytes.Lines(text) {
		fields := bytes.Fields(row)
		if len(fields) == 2 && string(fields[1]) == strconv.Itoa(pid) {
			if child, err := strconv.Atoi(string(fields[0])); err == nil {
				children = append(children, child)
			}
		}
	}
	return children
}

// trend is how a value changes over time.
type trend struct{ n, t, v, tt, tv float64 } // sums, t in minutes

func (t *trend) add(at time.Duration, v float64) {
	m := at.Minutes()
	t.n, t.t, t.v, t.tt, t.tv = t.n+1, t.t+m, t.v+v, t.tt+m*m, t.tv+m*v
}

func (t *trend) mean() float64 { return t.v / max(t.n, 1) }

// slope is the growth per minute, by least squares.
func (t *trend) slope() float64 {
	spread := t.n*t.tt - t.t*t.t
	if spread <= 0 {
		return 0
	}
	return (t.n*t.tv - t.t*t.v) / spread
}

// flat is the table's line for a value that should not change: by at most driftMost of its
// mean over the observed minutes.
func (t *trend) flat(name string) line {
	if t.n == 0 {
		return line{name, "this system does not tell"}
	}
	drift := t.slope() * t.n * soakSample.Minutes()
	return line{
		name, fmt.Sprintf("%.0f, %+.1f in the time looked at", t.mean(), drift), "", fmt.Sprintf("within %.0f %%", driftMost*100),
		verdict(math.Abs(drift) <= driftMost*t.mean()),
	}
}
