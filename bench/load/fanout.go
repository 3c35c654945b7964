package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/mulligan-run/mulligan/sdk/go/client"
)

const (
	fanRuns   = 40  // shared by all followers
	fanWord   = 500 // bytes of a delta in a run's first seconds, which fill the connections
	fanLoud   = 15 * time.Second
	fanArrive = 2 * time.Second // in which first the runs begin, and then the followers arrive
	cutWithin = 10 * time.Second

	// The connection of a follower who does not read behaves like one over a network, not
	// within a machine: its packets have at most this many bytes, so that the kernel's
	// buffers fill up soon.
	farSegment = 1000
	farBuffer  = 4 << 10
)

// fanned is the result of a fan-out: many followers of a few runs.
type fanned struct {
	delta    times         // from the provider to the followers who read
	end      times         // from a run's last delta until followers hear of its end
	text     times         // from the request for a run until its last delta
	cut      time.Duration // until those who do not read were disconnected; 0 = they were not
	mem      float64       // per follower, in KiB
	complete int           // followers who did not read, but have all events in the end
	burnt    string
}

// fanLines compares a fan-out without and with followers who stop reading.
func (l *lot) fanLines(ctx context.Context) []line {
	l.progress("%d followers of %d runs", l.plan.fans-l.plan.stalled, fanRuns)
	calm := l.fan(ctx, 0)
	l.progress("%d more, who do not read", l.plan.stalled)
	crowd := l.fan(ctx, l.plan.stalled)
	name := func(stalled int) string {
		return fmt.Sprintf("%d followers of %d runs, %d more do not read", l.plan.fans-l.plan.stalled, fanRuns, stalled)
	}
	shown := func(f *fanned) string {
		return fmt.Sprintf("delta %s; end %s; a run's text takes %.1f s", spread(&f.delta), spread(&f.end), f.text.at(0.5).Seconds())
	}
	target := "p99 ≤ " + millis(heavyMost)
	cut := fmt.Sprintf("%d of %d are cut, and have missed nothing when they come back; the last after %.1f s, of which its connection took some to fill",
		crowd.complete, l.plan.stalled, crowd.cut.Seconds())
	return []line{
		{name(0), shown(calm), "", target, verdict(calm.delta.at(0.99) <= heavyMost), calm.burnt},
		{name(l.plan.stalled), shown(crowd), "", target, verdict(crowd.delta.at(0.99) <= heavyMost), crowd.burnt},
		{"those who do not read", cut, "", "cut when a write takes 10 s", verdict(crowd.complete == l.plan.stalled)},
		{"memory of a follower", fmt.Sprintf("%.0f KiB", calm.mem), "", "≤ 40 KiB", verdict(calm.mem <= 40)},
	}
}

// fan starts runs with followers, some of which do not read until the runs have ended.
func (l *lot) fan(ctx context.Context, stalled int) *fanned {
	it := &fanned{}
	before := l.burned()
	var reading, silent sync.WaitGroup
	over := make(chan struct{}) // closed when the runs are over
	begun := time.Now()
	runs, wished := make([]string, fanRuns), make([]time.Time, fanRuns)
	var starting sync.WaitGroup
	for i := range runs {
		starting.Go(func() {
			sleep(ctx, scattered(i, fanArrive))
			var err error
			wished[i] = time.Now()
			if runs[i], err = l.gateway.start(ctx, labEntry+"/"+fanModel); err != nil {
				l.wrong.add("a run does not begin: %v", err)
			}
		})
	}
	starting.Wait()
	if slices.Contains(runs, "") {
		return it
	}
	alone := residentMiB(l.gateway.cmd.Process.Pid)
	for i := range l.plan.fans - l.plan.stalled {
		reading.Go(func() {
			sleep(ctx, scattered(i, fanArrive))
			l.fanFollower(ctx, it, runs[i%fanRuns], wished[i%fanRuns])
		})
	}
	var mu sync.Mutex
	for i := range stalled {
		silent.Go(func() {
			if l.fanSilent(ctx, runs[i%fanRuns], over) {
				mu.Lock()
				it.complete++
				mu.Unlock()
			}
		})
	}
	done := make(chan struct{})
	go func() {
		reading.Wait()
		close(done)
	}()
	most := l.watchFan(ctx, it, stalled, begun, done)
	it.mem = (most - alone) * 1024 / float64(l.plan.fans-l.plan.stalled)
	it.burnt = l.burned().since(before)
	close(over)
	silent.Wait()
	return it
}

// watchFan watches the gateway's number of followers until those who read are done, and
// returns the most memory that it used while the runs streamed.
func (l *lot) watchFan(ctx context.Context, it *fanned, stalled int, begun time.Time, done <-chan struct{}) (most float64) {
	all := false
	for {
		select {
		case <-done:
			return most
		case <-time.After(500 * time.Millisecond):
		}
		if time.Since(begun) < l.plan.fanTime-time.Second {
			most = max(most, residentMiB(l.gateway.cmd.Process.Pid))
		}
		n, err := l.gateway.followers(ctx)
		if err != nil {
			l.wrong.add("the gateway does not say how many followers it has: %v", err)
			return most
		}
		all = all || n > l.plan.fans-l.plan.stalled
		if all && stalled > 0 && it.cut == 0 && n <= l.plan.fans-l.plan.stalled {
			it.cut = time.Since(begun)
		}
	}
}

// fanFollower reads as fast as it can.
func (l *lot) fanFollower(ctx context.Context, it *fanned, run string, wished time.Time) {
	var lags []time.Duration
	f := &follower{wrong: &l.wrong, run: run, lag: func(_ time.Time, lag time.Duration) { lags = append(lags, lag) }}
	f.follow(ctx, l.gateway)
	it.delta.add(lags...)
	if !f.ended.IsZero() {
		it.end.add(f.ended.Sub(f.last))
		it.text.add(f.last.Sub(wished))
	}
}

// fanSilent follows a run but does not read until the runs are over. Then it reads what
// was sent before it was disconnected, and reconnects for the rest. It reports whether it
// was disconnected and still missed nothing.
func (l *lot) fanSilent(ctx context.Context, run string, over <-chan struct{}) bool {
	f := &follower{wrong: &l.wrong, run: run, screen: &client.View{}, lag: func(time.Time, time.Duration) {}}
	cut, err := l.silence(ctx, f, over)
	if err != nil {
		l.wrong.add("run %s, for somebody who did not read: %v", run, err)
		return false
	}
	if cut {
		f.follow(ctx, l.gateway)
	}
	f.settled()
	return cut
}

// silence reports whether the gateway hung up before it said that the run had ended.
func (l *lot) silence(ctx context.Context, f *follower, over <-chan struct{}) (cut bool, err error) {
	address := strings.TrimPrefix(l.gateway.url, "http://")
	conn, err := farDialer().DialContext(ctx, "tcp", address)
	if err != nil {
		return false, err
	}
	defer conn.Close()
	_, err = fmt.Fprintf(conn, "GET /v1/runs/%s/events HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n\r\n", f.run, address, l.gateway.token)
	if err != nil {
		return false, err
	}
	select {
	case <-over:
	case <-ctx.Done():
		return false, ctx.Err()
	}
	_ = conn.SetReadDeadline(time.Now().Add(cutWithin))
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return false, err
	}
	defer resp.Body.Close()
	for m, err := range messages(resp.Body) {
		if err != nil || m.kind == kindEnd {
			return err != nil, nil
		}
		if err := f.hear(m); err != nil {
			return false, err
		}
	}
	return true, nil
}

// farDialer makes connections that behave like ones over a network: see farSegment.
func farDialer() *net.Dialer {
	return &net.Dialer{Control: func(_, _ string, conn syscall.RawConn) error {
		var failed error
		err := conn.Control(func(fd uintptr) {
			failed = errors.Join(syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, farBuffer),
				syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_MAXSEG, farSegment))
		})
		return errors.Join(err, failed)
	}}
}

// followers is how many clients currently follow a run.
func (s *served) followers(ctx context.Context) (int, error) {
	n, err := s.metric(ctx, "mulligan_followers")
	return int(n), err
}
