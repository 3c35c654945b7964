package timeline

import (
	"context"
	"iter"
	"maps"
	"slices"
	"sync"

	"github.com/mulligan-run/mulligan/recovery"
)

const readBatch = 64 // events per read while catching up

// feedSource is the durable side of what a feed shows.
type feedSource interface {
	Read(ctx context.Context, run string, after uint64, limit int) ([]recovery.Event, error)
	// Inbox gives at most limit commands after position after.
	Inbox(ctx context.Context, run string, after uint64, limit int) ([]Command, error)
	// Ended reports whether the run has its Ended event.
	Ended(ctx context.Context, run string) (bool, error)
	// LoadTail is Log.LoadTail.
	LoadTail(ctx context.Context, run string) (Tail, error)
}

// feed is what Follow and Commands are built on. It hands new events to the followers of this
// process; what a follower missed is read from the source.
type feed struct {
	source feedSource
	reads  *reads
	closed chan struct{}
	tails  tails

	listening chan struct{} // of capacity 1: somebody listens to a run that nobody listened to

	mu     sync.RWMutex      // held only for moments: runs do not wait for each other's followers
	topics map[string]*topic // of the runs that have listeners
}

// topic is a run that has listeners.
type topic struct {
	mu         sync.Mutex
	seq, inbox uint64 // how far it is known to be
	listeners  map[*listener]struct{}
}

// newFeed makes a feed over source.
func newFeed(source feedSource) *feed {
	return &feed{source: source, reads: newReads(source), closed: make(chan struct{}), listening: make(chan struct{}, 1), topics: map[string]*topic{}, tails: tails{of: map[string]*tail{}}}
}

// Appended shows events to the run's followers. It is called once they are durable, in the order of
// the run, and before Append returns.
func (f *feed) Appended(run string, events []recovery.Event) {
	for i := range events {
		f.tails.happened(run, &events[i])
	}
	t := f.topic(run)
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range events {
		t.seq = max(t.seq, events[i].Seq)
		t.show(Item{Event: &events[i]})
	}
}

// Publish shows d to the run's followers, and keeps its text for later ones.
func (f *feed) Publish(run string, d Delta) {
	f.tails.grow(run, d)
	if t := f.topic(run); t != nil && t.followed() {
		shown := d // a copy, so that d itself costs nothing if nobody follows
		shown.Run = run
		t.tell(Item{Delta: &shown})
	}
}

// Tail gives the text so far of a run that this process drives; false if this process does not
// drive it, or nothing is in the air.
func (f *feed) Tail(run string) (Tail, bool) {
	t, _, ok := f.tails.here(run)
	return t, ok
}

// Heard shows the run's followers the text that another process saved of its attempt; the zero Tail
// if nothing is in the air any more.
func (f *feed) Heard(run string, t Tail) {
	if piece, ok := f.tails.heard(run, t); ok {
		f.show(run, t.Seq, piece)
	}
}

// hear shows the run's followers a live piece from another process, and reports whether a piece
// before it is missing.
func (f *feed) hear(s Speech) (missing bool) {
	piece, ok, missing := f.tails.hears(s)
	if ok {
		f.show(s.Run, s.Seq, piece)
	}
	return missing
}

// show shows the run's followers a live piece from another process, after the event with the given
// seq.
func (f *feed) show(run string, after uint64, d Delta) {
	if t := f.topic(run); t != nil {
		t.tell(Item{Delta: &d, after: after})
	}
}

// Lacks reports whether Heard would show something, or end it, if another process has saved that
// many bytes of that attempt; 0 and 0 for nothing.
func (f *feed) Lacks(run string, attempt uint64, bytes int) bool {
	return f.tails.lacks(run, attempt, bytes)
}

// Left forgets the live text of a run that was claimed or released here.
func (f *feed) Left(run string) { f.tails.forget(run, false) }

// Notify shows a notice to the run's followers.
func (f *feed) Notify(run, text string) {
	if t := f.topic(run); t != nil {
		t.tell(Item{Notice: &Notice{Run: run, Text: text}})
	}
}

// tell queues an item that is live and not durable.
func (t *topic) tell(item Item) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.show(item)
}

// followed reports whether anybody listens to more than the inbox; the run's owner listens only to
// that.
func (t *topic) followed() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for l := range t.listeners {
		if !l.inbox {
			return true
		}
	}
	return false
}

// topic is the run's topic; nil if nobody listens.
func (f *feed) topic(run string) *topic {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.topics[run]
}

// show queues item for everybody who follows the run.
func (t *topic) show(item Item) {
	for l := range t.listeners {
		if l.inbox {
			continue
		}
		if item.shared == nil {
			item.shared, item.size = &shared{}, sizeOf(item)
		}
		l.push(item)
	}
}

// Moved records how far the run and its inbox have got, whichever process wrote. Listeners that do
// not know it yet read the source.
func (f *feed) Moved(run string, seq, inbox uint64) {
	t := f.topic(run)
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for l := range t.listeners {
		if l.inbox && inbox > t.inbox || !l.inbox && seq > t.seq {
			l.look()
		}
	}
	t.seq, t.inbox = max(t.seq, seq), max(t.inbox, inbox)
}

// Deleted makes the run's listeners read the source, which no longer has the run.
func (f *feed) Deleted(run string) {
	f.reads.drop(run)
	if t := f.topic(run); t != nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		for l := range t.listeners {
			l.look()
		}
	}
}

// Runs lists the runs that have listeners; if some are named, only those of them.
func (f *feed) Runs(named ...string) []string {
	f.mu.RLock()
	defer f.mu.RUnlock()
	if len(named) == 0 {
		return slices.Collect(maps.Keys(f.topics))
	}
	return slices.DeleteFunc(named, func(run string) bool { return f.topics[run] == nil })
}

// Close ends every listener with ErrClosed. It is called only once.
func (f *feed) Close() { close(f.closed) }

// Follow is Log.Follow.
func (f *feed) Follow(ctx context.Context, run string, after uint64) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		l := f.listen(run, false)
		defer f.leave(run, l)
		w := follower{feed: f, run: run, cursor: after, yield: yield}
		if err := w.follow(ctx, l); err != nil && ctx.Err() == nil {
			yield(Item{}, err)
		}
	}
}

// Commands is Log.Commands.
func (f *feed) Commands(ctx context.Context, run string, after uint64) iter.Seq2[Command, error] {
	return func(yield func(Command, error) bool) {
		l := f.listen(run, true)
		defer f.leave(run, l)
		for {
			l.take()
			commands, err := f.source.Inbox(ctx, run, after, readBatch)
			for _, c := range commands {
				if !yield(c, nil) {
					return
				}
				after = c.N
			}
			if err == nil && len(commands) < readBatch {
				err = f.wait(ctx, l)
			}
			if err != nil {
				if ctx.Err() == nil {
					yield(Command{}, err)
				}
				return
			}
		}
	}
}

func (f *feed) listen(run string, inbox bool) *listener {
	f.mu.Lock()
	defer f.mu.Unlock()
	t := f.topics[run]
	if t == nil {
		t = &topic{listeners: map[*listener]struct{}{}}
		f.topics[run] = t
		select {
		case f.listening <- struct{}{}:
		default:
		}
	}
	l := &listener{wake: make(chan struct{}, 1), inbox: inbox}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.listeners[l] = struct{}{}
	return l
}

func (f *feed) leave(run string, l *listener) {
	f.mu.Lock()
	defer f.mu.Unlock()
	t := f.topics[run]
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.listeners, l)
	if len(t.listeners) == 0 {
		delete(f.topics, run)
		f.tails.forget(run, true)
	}
}

func (f *feed) wait(ctx context.Context, l *listener) error {
	select {
	case <-l.wake:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-f.closed:
		return ErrClosed
	}
}
