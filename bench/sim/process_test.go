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

// errDied is what somebody gets who asked a process that died meanwhile.
var errDied = errors.New("the process died")

// fate is what happens to a process at one of its appends.
type fate struct {
	at    int           // which append, from 1; 0 = it lives on
	after bool          // the append is durable, and the process does not learn it
	pause time.Duration // it only stops for so long, as a laptop whose lid is closed; 0 = it dies
}

// process is one process with a runner. It is the runner's Log: dying, it neither
// writes nor releases nor hears anything any more, and cleans nothing up.
type process struct {
	*timeline.Journal
	disk   *disk
	w      *world
	name   string
	fate   fate
	runner *runner.Runner
	died   chan struct{}
	paused chan struct{}
	told   context.Context // over once it is told to end
	leave  func()          // tells it to end
	slept  atomic.Bool     // it stood still once

	mu      sync.Mutex
	appends int
	awake   time.Time // the end of its pause
	hears   time.Time // until then it is not told that a claim succeeded
	calls   map[int]context.CancelFunc
	called  int
}

// draw gives a process of a world its fate.
func (d *dice) fate(likely float64) fate {
	at, after, pauses := 1+int(d.duration(30)), d.chance(0.5), d.chance(0.25)
	pause := time.Second + d.duration(45*time.Second)
	if !d.chance(likely) {
		return fate{}
	}
	if !pauses {
		pause = 0
	}
	return fate{at: at, after: after, pause: pause}
}

// spawn starts a process.
func (w *world) spawn(f fate) *process {
	p := &process{
		disk: w.disk, w: w, fate: f,
		died: make(chan struct{}), paused: make(chan struct{}), calls: map[int]context.CancelFunc{},
	}
	told, leave := context.WithCancelCause(context.Background())
	p.told, p.leave = told, func() { leave(runner.ErrLetGo) }
	p.Journal = w.disk.open(p.awakes)
	w.mu.Lock()
	w.processes = append(w.processes, p)
	p.name = fmt.Sprintf("p%d", len(w.processes))
	w.mu.Unlock()
	p.runner = runner.New(w.options(p)...)
	return p
}

// dead reports whether p is, and waits for the end of the world then: nothing that a
// dead process does comes back.
func (p *process) dead() bool {
	if p.gone() {
		<-p.w.over
		return true
	}
	return false
}

// under is the context of a run that p drives: p lets go of it when it is told to end.
func (p *process) under(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancelCause(ctx)
	context.AfterFunc(p.told, func() { cancel(context.Cause(p.told)) })
	return ctx
}

// leftInOrder reports whether p was told to end and nothing else was wrong with it.
func (p *process) leftInOrder() bool {
	return p.told.Err() != nil && !p.gone() && !p.slept.Load() && p.disk.sound()
}

// gone reports whether p died.
func (p *process) gone() bool {
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

// doom reports whether this append is the one that p's fate is about.
func (p *process) doom() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.appends++
	return p.appends == p.fate.at
}

func (p *process) Append(ctx context.Context, l timeline.Lease, after uint64, events ...recovery.Event) error {
	return p.write(func() error { return p.disk.keep(ctx, p.Journal, l, after, events...) })
}

func (p *process) Begin(
	ctx context.Context, run, _ string, ttl time.Duration, first func(timeline.Lease) []recovery.Event,
) (lease timeline.Lease, err error) {
	err = p.write(func() error {
		p.w.sky.comes(p.owner())
		lease, err = p.disk.begin(ctx, p.Journal, run, p.owner(), ttl, first)
		return err
	})
	return lease, err
}

// write appends by keep, under p's fate.
func (p *process) write(keep func() error) error {
	if p.dead() {
		return timeline.ErrClosed
	}
	if !p.doom() {
		return p.disk.meet(keep)
	}
	var err error
	if p.fate.after {
		err = keep()
	}
	if p.fate.pause == 0 {
		p.die()
		p.dead()
		return timeline.ErrClosed
	}
	p.disk.cost(p.fate.pause)
	p.mu.Lock()
	p.awake = time.Now().Add(p.fate.pause)
	p.mu.Unlock()
	p.slept.Store(true)
	close(p.paused)
	time.Sleep(p.fate.pause)
	if p.fate.after {
		return err
	}
	return keep()
}

// owner names the process as a runner would, but for the dice in that: a seed is to be played
// twice alike.
func (p *process) owner() string { return "sim-" + p.name }

func (p *process) Claim(ctx context.Context, run, _ string, ttl time.Duration) (timeline.Lease, error) {
	if p.dead() {
		return timeline.Lease{}, timeline.ErrClosed
	}
	p.w.sky.comes(p.owner())
	lease, err := p.disk.claim(ctx, p.Journal, run, p.owner(), ttl)
	if late := time.Until(p.hears); err == nil && late > 0 {
		p.disk.cost(late)
		time.Sleep(late)
	}
	return lease, err
}

func (p *process) Renew(ctx context.Context, l timeline.Lease, ttl time.Duration) (timeline.Lease, error) {
	if p.dead() {
		return timeline.Lease{}, timeline.ErrClosed
	}
	return p.disk.renew(ctx, p.Journal, l, ttl)
}

func (p *process) Keep(ctx context.Context, _ string, ttl time.Duration) (timeline.Kept, error) {
	time.Sleep(time.Until(p.awakes()))
	if p.dead() {
		return timeline.Kept{}, timeline.ErrClosed
	}
	return p.Journal.Keep(ctx, p.owner(), ttl)
}

func (p *process) Release(ctx context.Context, l timeline.Lease) error {
	if p.dead() {
		return timeline.ErrClosed
	}
	return p.disk.release(ctx, p.Journal, l)
}

func (p *process) SaveTail(ctx context.Context, l timeline.Lease, t timeline.Tail) error {
	if p.dead() {
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

// awakes is when p goes on, or went on, after it stood still.
func (p *process) awakes() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.awake
}

// asleep reports whether p stands still.
func (p *process) asleep() bool { return time.Now().Before(p.awakes()) }

// wakes has a process that once stood still be like any other one.
func (p *process) wakes() {
	select {
	case <-p.paused:
		p.paused = make(chan struct{})
	default:
	}
}

// owns reports whether p has the run, as far as the disk knows.
func (p *process) owns() bool {
	owner := ""
	p.disk.look(func(_ []recovery.Event, run *recovery.Run) { owner = run.Owner })
	return owner == p.owner()
}

// within asks something of p; errDied if it dies meanwhile.
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

// calling is a model as p calls it: one call at a time may be in the air, by who has
// the run; the connections of a process that dies break.
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

// call counts a call of p's in, and out when done is called.
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
