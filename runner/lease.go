package runner

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// A run belongs to its owner for leaseTTL from its claim, which is longer than most runs take. For
// a longer run the lease is renewed once, and then kept together with all others of this Runner.

// keptTimes is how often the leases are kept in each leaseTTL.
const keptTimes = 5

// leases keeps the leases of all runs of a Runner, in one write.
type leases struct {
	mu    sync.Mutex
	loops map[*loop]struct{} // the loops with leases that it keeps
	stop  context.CancelFunc

	kept atomic.Pointer[timeline.Kept] // nil = none has been kept yet
}

// standing says how long a loop's lease holds.
type standing struct {
	until time.Time
	kept  bool // it was renewed, in that life, and is kept
	life  uint64
}

// join makes k keep l's lease, unless l has left.
func (k *leases) join(l *loop) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, there := k.loops[l]; there || l.left {
		return
	}
	if len(k.loops) == 0 {
		ctx, stop := context.WithCancel(context.Background())
		k.loops, k.stop = map[*loop]struct{}{}, stop
		l.r.busy.Go(func() { k.beat(ctx, l.r, l.lease.Owner) })
	}
	k.loops[l] = struct{}{}
}

// leave undoes join.
func (k *leases) leave(l *loop) {
	k.mu.Lock()
	defer k.mu.Unlock()
	l.left = true
	if _, there := k.loops[l]; !there {
		return
	}
	if delete(k.loops, l); len(k.loops) == 0 {
		k.stop()
	}
}

// beat keeps the leases of owner until ctx ends.
func (k *leases) beat(ctx context.Context, r *Runner, owner string) {
	ticker := time.NewTicker(r.leaseTTL / keptTimes)
	defer ticker.Stop()
	for {
		bounded, cancel := context.WithTimeout(ctx, storeSlow)
		kept, err := r.log.Keep(bounded, owner, r.leaseTTL)
		cancel()
		switch {
		case err == nil:
			k.kept.Store(&kept)
		case ctx.Err() == nil && !errors.Is(err, timeline.ErrClosed):
			r.logger.Warn("the leases were not kept", "err", err)
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// life is the life in which a lease that is renewed now is kept.
func (k *leases) life() uint64 {
	if kept := k.kept.Load(); kept != nil {
		return kept.Life
	}
	return 0
}

// until is when s ends.
func (k *leases) until(s *standing) time.Time {
	if kept := k.kept.Load(); s.kept && kept != nil && kept.Life == s.life && kept.Expires.After(s.until) {
		return kept.Expires
	}
	return s.until
}

// hold sets the loop's lease.
func (l *loop) hold(lease timeline.Lease) {
	l.lease = lease
	l.stands.Store(&standing{until: lease.Expires})
	l.r.leases.mu.Lock()
	defer l.r.leases.mu.Unlock()
	l.left = false
}

// mayAct checks that an effect may begin now: the run goes on and still belongs to this loop. A
// process that stood still for longer than its lease asks the store first. The effect's own
// goroutine calls mayAct right before the effect. If the run is over, mayAct waits until the loop
// knows that and stops the effect; an effect that ends before that has failed.
func (l *loop) mayAct(ctx context.Context) error {
	if l.ctx.Err() != nil {
		<-ctx.Done()
		return errStopped
	}
	if l.holds() {
		return nil
	}
	err := l.regain(ctx)
	if err == nil {
		return nil
	}
	if ctx.Err() == nil {
		l.post(func(context.Context) error { return err })
	}
	return errStopped
}

// regain renews a lease that may be over, as often as necessary, until ctx ends.
func (l *loop) regain(ctx context.Context) error {
	for pause := storePause; ; pause = min(2*pause, storeRest) {
		err := l.renew(ctx)
		if err == nil || ctx.Err() != nil || !timeline.MayPass(err) {
			return err
		}
		l.r.log.Notify(l.id, recovery.Line(nil, recovery.Paused{Reason: storeReason(err)}))
		l.r.logger.Warn("the lease was not renewed, and nothing begins before it is", "run", l.id, "pause", pause, "err", err)
		idle(ctx, pause)
	}
}

// holds reports whether the lease holds by both clocks: by the monotonic clock, which cannot be
// set, and by the wall clock, which goes on while a computer sleeps.
func (l *loop) holds() bool {
	now, until := time.Now(), l.r.leases.until(l.stands.Load())
	return now.Before(until) && now.Round(0).Before(until.Round(0))
}

// renew renews the lease for another leaseTTL. From then on it is kept.
func (l *loop) renew(ctx context.Context) error {
	life := l.r.leases.life()
	lease, err := l.r.log.Renew(ctx, l.lease, l.r.leaseTTL)
	if err != nil {
		return fmt.Errorf("run %s: keep its lease: %w", l.id, err)
	}
	l.stands.Store(&standing{until: lease.Expires, kept: true, life: life})
	l.r.leases.join(l)
	return nil
}

// keepLease renews the lease in good time, unless it is kept. If the store does not write now it
// may do so later, and the loop asks the store before it acts.
func (l *loop) keepLease(ctx context.Context) error {
	if s := l.stands.Load(); l.r.leases.until(s).After(time.Now().Add(l.r.leaseTTL/2)) && s.kept {
		return nil
	}
	bounded, cancel := context.WithTimeout(ctx, storeSlow)
	defer cancel()
	err := l.renew(bounded)
	if err == nil || ctx.Err() != nil || !timeline.MayPass(err) {
		return err
	}
	l.r.logger.Warn("the lease was not renewed", "run", l.id, "err", err)
	return nil
}

// stillOwns checks, if writing took longer than the lease held, that nobody took the run in that
// time: otherwise nothing may follow from what was written.
func (l *loop) stillOwns(ctx context.Context) error {
	if l.holds() {
		return nil
	}
	_, err := l.persist(ctx, l.renew)
	return err
}
