package sim

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/timeline"
)

// errDied is the reply of a process that died while it was asked.
var errDied = errors.New("the process died")

// crashPlan says at which append a process crashes or pauses.
type crashPlan struct {
	at    int           // which append, from 1; 0 = none
	after bool          // the append is durable, but the process never learns it
	pause time.Duration // the process only pauses for so long, like a laptop with a closed lid; 0 = it dies
}

// process is one process with a runner, and the runner's Log. After its death it neither writes nor
// releases anything, receives nothing, and cleans nothing up.
type process struct {
	*timeline.Journal
	disk      *disk
	w         *world
	name      string
	crash     crashPlan
	runner    *runner.Runner
	died      chan struct{}
	paused    chan struct{}
	stopping  context.Context // done once the process is told to end
	stop      func()          // tells the process to end
	wasPaused atomic.Bool     // it was paused at least once

	mu           sync.Mutex
	appends      int
	pauseEnd     time.Time // when its pause ends
	claimReplyAt time.Time // until then the reply to a successful claim is withheld
	calls        map[int]context.CancelFunc
	called       int
}

// crashPlan draws whether and how a process crashes.
func (d *dice) crashPlan(likely float64) crashPlan {
	at, after, pauses := 1+int(d.duration(30)), d.chance(0.5), d.chance(0.25)
	pause := time.Second + d.duration(45*time.Second)
	if !d.chance(likely) {
		return crashPlan{}
	}
	if !pauses {
		pause = 0
	}
	return crashPlan{at: at, after: after, pause: pause}
}

// spawn starts a process.
func (w *world) spawn(plan crashPlan) *process {
	p := &process{
		disk: w.disk, w: w, crash: plan,
		died: make(chan struct{}), paused: make(chan struct{}), calls: map[int]context.CancelFunc{},
	}
	stopping, cancel := context.WithCancelCause(context.Background())
	p.stopping, p.stop = stopping, func() { cancel(runner.ErrLetGo) }
	p.Journal = w.disk.open(p.resumesAt)
	w.mu.Lock()
	w.processes = append(w.processes, p)
	p.name = fmt.Sprintf("p%d", len(w.processes))
	w.mu.Unlock()
	p.runner = runner.New(w.options(p)...)
	return p
}

// blockIfDead reports whether p has died, after waiting for the end of the world: no call in a dead
// process returns.
func (p *process) blockIfDead() bool {
	if p.hasDied() {
		<-p.w.over
		return true
	}
	return false
}

// under is the context of a run that p drives: p releases the run when it is told to end.
func (p *process) under(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancelCause(ctx)
	context.AfterFunc(p.stopping, func() { cancel(context.Cause(p.stopping)) })
	return ctx
}

// leftInOrder reports whether p was told to end and had no other fault.
func (p *process) leftInOrder() bool {
	return p.stopping.Err() != nil && !p.hasDied() && !p.wasPaused.Load() && p.disk.sound()
}

// hasDied reports whether p died.
func (p *process) hasDied() bool {
	select {
	case <-p.died:
		return true
	default:
		return false
	}
}

func (p *process) die() {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.died)
	for _, cancel := range p.calls {
		cancel()
	}
}

// nextAppendFails counts an append and reports whether it is the one that p's plan is about.
func (p *process) nextAppendFails() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.appends++
	return p.appends == p.crash.at
}

func (p *process) Append(ctx context.Context, l timeline.Lease, after uint64, events ...recovery.Event) error {
	return p.write(func() error { return p.disk.keep(ctx, p.Journal, l, after, events...) })
}

func (p *process) Begin(
	ctx context.Context, run, _ string, ttl time.Duration, first func(timeline.Lease) []recovery.Event,
) (lease timeline.Lease, err error) {
	err = p.write(func() error {
		p.w.env.noteClaim(p.owner())
		lease, err = p.disk.begin(ctx, p.Journal, run, p.owner(), ttl, first)
		return err
	})
	return lease, err
}

// write calls keep, and crashes or pauses the process there if that is planned.
func (p *process) write(keep func() error) error {
	if p.blockIfDead() {
		return timeline.ErrClosed
	}
	if !p.nextAppendFails() {
		return p.disk.withFaults(keep)
	}
	var err error
	if p.crash.after {
		err = keep()
	}
	if p.crash.pause == 0 {
		p.die()
		p.blockIfDead()
		return timeline.ErrClosed
	}
	p.disk.cost(p.crash.pause)
	p.mu.Lock()
	p.pauseEnd = time.Now().Add(p.crash.pause)
	p.mu.Unlock()
	p.wasPaused.Store(true)
	close(p.paused)
	time.Sleep(p.crash.pause)
	if p.crash.after {
		return err
	}
	return keep()
}

// owner names the process as a runner would, but without the random part, since a seed must give
// the same log twice.
func (p *process) owner() string { return "sim-" + p.name }

func (p *process) Claim(ctx context.Context, run, _ string, ttl time.Duration) (timeline.Lease, error) {
	if p.blockIfDead() {
		return timeline.Lease{}, timeline.ErrClosed
	}
	p.w.env.noteClaim(p.owner())
	lease, err := p.disk.claim(ctx, p.Journal, run, p.owner(), ttl)
	if late := time.Until(p.claimReplyAt); err == nil && late > 0 {
		p.disk.cost(late)
		time.Sleep(late)
	}
	return lease, err
}

func (p *process) Renew(ctx context.Context, l timeline.Lease, ttl time.Duration) (timeline.Lease, error) {
	if p.blockIfDead() {
		return timeline.Lease{}, timeline.ErrClosed
	}
	return p.disk.renew(ctx, p.Journal, l, ttl)
}

func (p *process) Keep(ctx context.Context, _ string, ttl time.Duration) (timeline.Kept, error) {
	time.Sleep(time.Until(p.resumesAt()))
	if p.blockIfDead() {
		return timeline.Kept{}, timeline.ErrClosed
	}
	return p.Journal.Keep(ctx, p.owner(), ttl)
}

func (p *process) Release(ctx context.Context, l timeline.Lease) error {
	if p.blockIfDead() {
		return timeline.ErrClosed
	}
	return p.disk.release(ctx, p.Journal, l)
}

func (p *process) SaveTail(ctx context.Context, l timeline.Lease, t timeline.Tail) error {
	if p.blockIfDead() {
		return timeline.ErrClosed
	}
	err := p.Journal.SaveTail(ctx, l, t)
	if err == nil && t.Offset == 0 {
		p.disk.saves(t)
	}
	return err
}

func (p *process) Publish(run string, d timeline.Delta) {
	select {
	case <-p.died:
	default:
		p.Journal.Publish(run, d)
	}
}

// resumesAt is when p's last pause ends, or ended.
func (p *process) resumesAt() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.pauseEnd
}

// isPaused reports whether p is paused now.
func (p *process) isPaused() bool { return time.Now().Before(p.resumesAt()) }

// endPause makes a process that was paused usable again.
func (p *process) endPause() {
	select {
	case <-p.paused:
		p.paused = make(chan struct{})
	default:
	}
}

// owns reports whether p owns the run, according to the disk.
func (p *process) owns() bool {
	owner := ""
	p.disk.look(func(_ []recovery.Event, run *recovery.Run) { owner = run.Owner })
	return owner == p.owner()
}

// within calls ask, and returns errDied if p dies meanwhile.
func within[T any](p *process, ask func() (T, error)) (T, error) {
	type reply struct {
		value T
		err   error
	}
	replies := make(chan reply, 1)
	go func() {
		value, err := ask()
		replies <- reply{value, err}
	}()
	select {
	case r := <-replies:
		return r.value, r.err
	case <-p.died:
		return *new(T), errDied
	}
}

// calling is a model as p calls it. Only the run's owner may call, and only one call at a time may
// be open. The calls of a process that dies are cancelled.
type calling struct {
	p *process
	llm.Model
}

func (c calling) Stream(ctx context.Context, q llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		ctx, done := c.p.call(ctx)
		defer done()
		c.Model.Stream(ctx, q)(yield)
	}
}

// call counts a call of p until done is called.
func (p *process) call(ctx context.Context) (_ context.Context, done func()) {
	ctx, cancel := context.WithCancel(ctx)
	select {
	case <-p.died:
		cancel()
		return ctx, func() {}
	default:
	}
	if !p.owns() {
		p.w.complain("I35: %s calls a model, and the run is another's", p.name)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.calls) > 0 {
		p.w.complain("I10: %s has two model calls in the air", p.name)
	}
	p.called++
	id := p.called
	p.calls[id] = cancel
	return ctx, func() {
		p.mu.Lock()
		delete(p.calls, id)
		p.mu.Unlock()
		cancel()
	}
}
