package runner

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

const (
	lookEvery  = time.Second     // between two looks for due runs
	lookMost   = 1024            // due runs that one look reads, at most
	lookBulk   = lookEvery / 4   // between two looks if the log can give many runs at once
	lookOnes   = 40              // after this many of those, one look for runs that cannot be given at once
	bulkMost   = 250             // runs that one of those claims, at most, without the ones whose wait is over
	wokenMost  = 32              // runs whose wait is over that one look resumes, at most
	orphanMost = 128             // other runs that it resumes, at most
	firstPause = 2 * time.Second // before a run that could not be resumed is tried again; it doubles
	lastPause  = 5 * time.Minute // the longest such pause
	letGoTime  = 8 * time.Second // for the release of all runs
)

// Keep resumes every run that is due and that no living process drives: one whose wait is over, one
// whose process died, one whose suggestion has expired. It looks once a second by the wall clock,
// so that a computer that slept beyond a run's time resumes the run right after waking. Each look
// resumes at most 32 runs whose wait is over, so that quotas with the same reset do not bring all
// their runs back at once. Of the others it resumes at most 128, evenly over the second.
// If the log can give many runs at once, Keep looks four times a second and resumes at most 1,000
// of the others per second. Any number of processes may keep one log: each run goes to the first
// that claims it.
// A run that needs what this machine does not have is left to others: see WithMachine.
//
// Unless it is nil, each is called for every resumed run, on its own goroutine, and may follow the
// run and wait for it. A run that cannot be resumed is logged, and tried again after a pause that
// grows to 5 minutes.
//
// When ctx ends Keep releases its runs, which any process may resume from then on, and returns when
// that is done and every call of each has returned. The error is then nil, unless some run could
// not be released within 8 s. Keep returns earlier only if the log was closed.
func (r *Runner) Keep(ctx context.Context, each func(*Run)) error {
	work, letGo := context.WithCancelCause(context.WithValue(context.WithoutCancel(ctx), kept{}, true))
	defer letGo(ErrLetGo)
	k := &keeper{r: r, each: each, work: work, going: map[string]bool{}, failed: map[string]failing{}}
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		if err := k.look(ctx); errors.Is(err, timeline.ErrClosed) {
			return err
		} else if err != nil && ctx.Err() == nil {
			r.logger.Warn("what is due cannot be looked up", "err", err)
		}
		if k.looks == 1 {
			ticker.Reset(lookBulk)
		}
		select {
		case <-ctx.Done():
			letGo(ErrLetGo)
			return k.leave()
		case <-ticker.C:
		}
	}
}

// kept marks the context of a run that a Keep resumed: it is released when that Keep ends.
type kept struct{}

// keeper is the state of one Keep.
type keeper struct {
	r    *Runner
	each func(*Run)
	work context.Context // the context of the runs
	busy busy

	looks int // so far, if many runs are given at once

	mu     sync.Mutex
	going  map[string]bool
	failed map[string]failing
}

// failing is a run that could not be resumed.
type failing struct {
	pause time.Duration
	until time.Time // by the monotonic clock
}

// look resumes due runs. Runs that pause after a failure are listed like the others, so they must
// not use up the places of those that can go on.
func (k *keeper) look(ctx context.Context) error {
	now := k.r.now().Round(0) // stored times are wall clock times
	if bulk, ok := k.r.log.(timeline.BulkLog); ok {
		if can, err := k.claimAll(ctx, bulk, now); err != nil || can && k.looks%lookOnes != 0 {
			return err
		}
	}
	list, err := k.r.log.List(ctx, timeline.Query{Due: now, Able: k.r.able(), Limit: lookMost + k.pausing()})
	if err != nil {
		return err
	}
	woken, orphans := 0, 0
	for _, s := range list {
		begun, most := &orphans, orphanMost
		if s.Status == recovery.StatusWaiting {
			begun, most = &woken, wokenMost
		}
		if *begun < most && k.take(s.Run) {
			moment := lookEvery * time.Duration(*begun) / time.Duration(most)
			k.busy.Go(func() { k.drive(s.Run, moment, nil) })
			*begun++
		}
	}
	return nil
}

// claimAll claims due runs that nobody has, in one step. It leaves out runs of this process that
// were not released, since they may be going on here; those are claimed one by one.
func (k *keeper) claimAll(ctx context.Context, log timeline.BulkLog, now time.Time) (can bool, err error) {
	can, err = k.claimSome(ctx, log, now, false, bulkMost, lookBulk)
	if !can || err != nil {
		return can, err
	}
	if k.looks++; (k.looks-1)%int(lookEvery/lookBulk) == 0 {
		_, err = k.claimSome(ctx, log, now, true, wokenMost, lookEvery)
	}
	return true, err
}

// claimSome claims at most that many runs, and resumes them evenly over that time.
func (k *keeper) claimSome(ctx context.Context, log timeline.BulkLog, now time.Time, waiting bool, most int, over time.Duration) (can bool, err error) {
	claimed, can, err := log.ClaimDue(ctx, k.r.owner, k.r.leaseTTL, now, waiting, k.r.able(), most, k.notNow()...)
	for i, c := range claimed {
		if !k.take(c.Lease.Run) {
			k.giveBack(c.Lease)
			continue
		}
		k.busy.Go(func() { k.drive(c.Lease.Run, over*time.Duration(i)/time.Duration(most), &c.Lease) })
	}
	return can, err
}

// notNow are the runs that are being resumed, or that pause.
func (k *keeper) notNow() (runs []string) {
	k.pausing()
	k.mu.Lock()
	defer k.mu.Unlock()
	for id, f := range k.failed {
		if time.Now().Before(f.until) {
			runs = append(runs, id)
		}
	}
	return slices.AppendSeq(runs, maps.Keys(k.going))
}

// giveBack releases a run that was claimed but is not resumed.
func (k *keeper) giveBack(l timeline.Lease) {
	ctx, cancel := context.WithTimeout(context.Background(), storeSlow)
	defer cancel()
	if err := k.r.log.Release(ctx, l); err != nil && !errors.Is(err, timeline.ErrStale) {
		k.r.logger.Warn("the lease was not released", "run", l.Run, "err", err)
	}
}

// pausing counts the runs that pause, and forgets those that failed long ago.
func (k *keeper) pausing() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	for id, f := range k.failed {
		if time.Since(f.until) > lastPause {
			delete(k.failed, id)
		}
	}
	return len(k.failed)
}

// take registers a run with this keeper, if nothing here drives it and it does not pause.
func (k *keeper) take(id string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	_, driven := k.r.drives(id)
	if driven || k.going[id] || time.Now().Before(k.failed[id].until) {
		return false
	}
	k.going[id] = true
	return true
}

// drive resumes one run after a moment, until it settles or is released. Runs that are due at once
// start evenly over a second, since what they need, such as plugins, can serve only so many at a
// time. A run that another process claimed first, or that has settled there by then, is left alone.
func (k *keeper) drive(id string, moment time.Duration, claimed *timeline.Lease) {
	select {
	case <-time.After(moment):
	case <-k.work.Done():
		if claimed != nil {
			k.giveBack(*claimed)
		}
		k.over(id, ErrLetGo)
		return
	}
	run, on, err := k.r.resume(k.work, id, claimed)
	if err == nil {
		if on && k.each != nil {
			k.each(run)
		}
		_, err = run.Wait(context.Background())
	}
	k.over(id, err)
}

// over records how driving a run ended.
func (k *keeper) over(id string, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.going, id)
	if settled(err) {
		delete(k.failed, id)
		return
	}
	pause := min(max(2*k.failed[id].pause, firstPause), lastPause)
	k.failed[id] = failing{pause: pause, until: time.Now().Add(pause)}
	k.r.logger.Warn("a run could not be driven on and is tried again later", "run", id, "pause", pause, "err", err)
}

// settled reports whether a run's error says how far the run has got, or who drives it, not that it
// could not be driven.
func settled(err error) bool {
	_, failed := errors.AsType[*Error](err)
	return err == nil || failed || errors.Is(err, ErrCancelled) || errors.Is(err, ErrParked) || errors.Is(err, ErrLetGo) ||
		errors.Is(err, timeline.ErrOwned)
}

// leave waits until all runs are released.
func (k *keeper) leave() error {
	patience := time.NewTimer(letGoTime)
	defer patience.Stop()
	select {
	case <-k.busy.idle():
		return nil
	case <-patience.C:
		k.mu.Lock()
		defer k.mu.Unlock()
		return fmt.Errorf("%d runs were not let go of within %s; they can be resumed once this process has ended", len(k.going), letGoTime)
	}
}

// expiry says that the time of the run's open suggestion is over, if it is.
func (l *loop) expiry() (recovery.Due, bool) {
	if !l.run.SuggestionOpen() || l.r.now().Round(0).Before(l.run.Suggestion.ExpiresAt) {
		return recovery.Due{}, false
	}
	return recovery.Due{Timer: failure.TimerExpiry, Failure: l.run.Open.Seq}, true
}
