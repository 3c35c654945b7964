package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/sdk/go/client"
)

const (
	readyMost   = 2 * time.Second  // from a gateway's start until it is ready
	resumedMost = 10 * time.Second // from a crash until every run has an owner again
)

// crashes are the measurements of all crashes.
type crashes struct {
	ready   times // from the gateway's start until it says that it is ready
	resumed times // from the crash until a run is claimed again
	ended   times // from the crash until the run has its answer
}

// recoveryLines crashes the gateway while runs are open, and restarts it.
func (l *lot) recoveryLines(ctx context.Context) []line {
	c := &crashes{}
	for i := range l.plan.kills {
		l.progress("%d runs are open, and the gateway is killed: %d of %d times", l.plan.open, i+1, l.plan.kills)
		if err := l.crash(ctx, c, openModel+strconv.Itoa(i)); err != nil {
			l.wrong.add("crash %d: %v", i+1, err)
			break
		}
	}
	met := c.resumed.count() > 0 && c.ready.at(1) <= readyMost && c.resumed.at(1) <= resumedMost
	return []line{{
		fmt.Sprintf("%d open runs, kill -9, %d times", l.plan.open, l.plan.kills),
		fmt.Sprintf("ready %s, at most %s; resumed %s, at most %s; all have ended after %.1f s",
			spread(&c.ready), millis(c.ready.at(1)), spread(&c.resumed), millis(c.resumed.at(1)), c.ended.at(1).Seconds()),
		"", "ready ≤ 2 s, all resumed ≤ 10 s, no run lost", verdict(met),
	}}
}

// crash kills the gateway when all runs have begun to answer, and follows them to their end
// on the next one.
func (l *lot) crash(ctx context.Context, c *crashes, model string) error {
	runs := l.openRuns(ctx, model)
	l.gateway.kill()
	killed := time.Now()
	next, err := serve(ctx, l.program, l.dir, l.store, l.at)
	if err != nil {
		return err
	}
	l.gateway = next
	if err := l.gateway.ready(ctx); err != nil {
		return err
	}
	c.ready.add(time.Since(killed))
	var group sync.WaitGroup
	for _, f := range runs {
		group.Go(func() {
			<-f.broken
			f.follow(ctx, l.gateway)
			f.settled()
			if f.taken.Before(killed) {
				l.wrong.add("run %s has no new owner after a crash", f.run)
				return
			}
			c.resumed.add(f.taken.Sub(killed))
			c.ended.add(f.ended.Sub(killed))
		})
	}
	group.Wait()
	return ctx.Err()
}

// interrupted follows a run that a crash interrupts.
type interrupted struct {
	*follower
	broken chan struct{} // closed when the first stream breaks
	taken  time.Time     // when an owner last claimed the run
}

// openRuns starts and follows runs, and returns when each has begun to answer.
func (l *lot) openRuns(ctx context.Context, model string) []*interrupted {
	doors := make(chan struct{}, stormDoors)
	var group sync.WaitGroup
	var mu sync.Mutex
	var runs []*interrupted
	for range l.plan.open {
		group.Go(func() {
			doors <- struct{}{}
			run, err := l.gateway.start(ctx, labEntry+"/"+model)
			<-doors
			if err != nil {
				l.wrong.add("a run that is to be interrupted does not begin: %v", err)
				return
			}
			answers := make(chan struct{})
			heard := sync.OnceFunc(func() { close(answers) })
			f := &interrupted{broken: make(chan struct{})}
			f.follower = &follower{
				wrong: &l.wrong, run: run, screen: &client.View{}, lag: func(time.Time, time.Duration) { heard() },
				told: func(e recovery.Event) {
					if _, ok := e.Body.(recovery.Claimed); ok {
						f.taken = e.Time
					}
				},
			}
			mu.Lock()
			runs = append(runs, f)
			mu.Unlock()
			before := l.gateway
			go func() {
				defer close(f.broken)
				_, _ = f.listen(ctx, before) // it is expected to break
			}()
			select {
			case <-answers:
			case <-f.broken:
				l.wrong.add("run %s is over before the crash", run)
			case <-ctx.Done():
			}
		})
	}
	group.Wait()
	return runs
}

// ready waits until the gateway says that it is ready.
func (s *served) ready(ctx context.Context) error {
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); sleep(ctx, 5*time.Millisecond) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/readyz", nil)
		if err != nil {
			return err
		}
		resp, err := s.http.Do(req)
		if err != nil {
			return err
		}
		resp.Body.Close()
		if resp.StatusCode == http.StatusOK {
			return nil
		}
	}
	return errors.New("the gateway is not ready after a minute")
}
