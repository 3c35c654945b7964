package timeline

import (
	"context"
	"iter"
	"slices"
	"sync"

	"github.com/mulligan-run/mulligan/recovery"
)

const readBatch = 64 // events per read while catching up

// Source is the durable side of what a Feed shows.
type Source interface {
	Read(ctx context.Context, run string, after uint64, limit int) ([]recovery.Event, error)
	// Inbox gives at most limit commands after position after.
	Inbox(ctx context.Context, run string, after uint64, limit int) ([]Command, error)
	// Ended reports whether the run has its Ended event.
	Ended(ctx context.Context, run string) (bool, error)
}

// Feed is what a store builds Follow and Commands on. It hands what was just
// appended to the followers of this process; whatever a follower missed it reads
// from the Source.
type Feed struct {
	source Source
	closed chan struct{}

	mu     sync.RWMutex      // held for a moment only: runs do not wait for each other's followers
	topics map[string]*topic // of the runs that somebody listens to
}

// topic is a run that somebody listens to.
type topic struct {
	mu         sync.Mutex
	seq, inbox uint64 // how far it is known to be
	listeners  map[*listener]struct{}
}

// NewFeed makes a feed over source.
func NewFeed(source Source) *Feed {
	return &Feed{source: source, closed: make(chan struct{}), topics: map[string]*topic{}}
}

// Appended shows events to the run's followers. It is called once they are durable,
// in the order of the run, and before the Append returns.
func (f *Feed) Appended(run string, events []recovery.Event) {
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

// Publish shows d to the run's followers.
func (f *Feed) Publish(run string, d Delta) {
	if t := f.topic(run); t != nil && t.followed() {
		shown := d // d itself costs nothing where nobody follows
		shown.Run = run
		t.tell(Item{Delta: &shown})
	}
}

// Notify shows a notice to the run's followers.
func (f *Feed) Notify(run, text string) {
	if t := f.topic(run); t != nil {
		t.tell(Item{Notice: &Notice{Run: run, Text: text}})
	}
}

// tell queues what is live and not durable.
func (t *topic) tell(item Item) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.show(item)
}

// followed reports whether anybody listens to more than the inbox, as the run's owner does.
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

// topic is the run's, nil when nobody listens.
func (f *Feed) topic(run string) *topic {
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

// Moved says how far the run and its inbox are, by whomever; listeners who do not
// know it yet look into the Source.
func (f *Feed) Moved(run string, seq, inbox uint64) {
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

// Deleted has the run's listeners look into the Source, which does not know it any more.
func (f *Feed) Deleted(run string) {
	if t := f.topic(run); t != nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		for l := range t.listeners {
			l.look()
		}
	}
}

// Runs lists the runs that somebody listens to.
func (f *Feed) Runs() []string {
	f.mu.RLock()
	defer f.mu.RUnlock()
	runs := make([]string, 0, len(f.topics))
	for run := range f.topics {
		runs = append(runs, run)
	}
	return runs
}

// Close ends every listener with ErrClosed. It is called once.
func (f *Feed) Close() { close(f.closed) }

// Follow is Log.Follow.
func (f *Feed) Follow(ctx context.Context, run string, after uint64) iter.Seq2[Item, error] {
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
func (f *Feed) Commands(ctx context.Context, run string, after uint64) iter.Seq2[Command, error] {
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

// follower is a Follow at work.
type follower struct {
	feed   *Feed
	run    string
	cursor uint64
	yield  func(Item, error) bool
	behind bool // what is given next comes after something that was given up
	over   bool // the consumer stopped, or the run ended
}

// follow listens before it reads, so nothing that is appended from then on can be
// missed; what is both read and heard is dropped by its seq.
func (w *follower) follow(ctx context.Context, l *listener) error {
	if err := w.catchUp(ctx); err != nil || w.over {
		return err
	}
	if ended, err := w.feed.source.Ended(ctx, w.run); err != nil {
		return err
	} else if ended {
		return w.catchUp(ctx) // the end may have come between the two
	}
	for first := true; ; first = false {
		queue, stale, behind := l.take()
		w.behind = behind && !first // whoever has not come to the end of the Source yet has missed nothing
		if stale {
			if err := w.catchUp(ctx); err != nil || w.over {
				return err
			}
		}
		if err := w.giveAll(ctx, queue); err != nil || w.over {
			return err
		}
		if err := w.feed.wait(ctx, l); err != nil {
			return err
		}
	}
}

// giveAll gives what was heard, and before it what the Source has and was not.
func (w *follower) giveAll(ctx context.Context, queue []Item) error {
	for i, item := range queue {
		if item.Event != nil && item.Event.Seq > w.cursor+1 {
			if err := w.catchUp(ctx); err != nil || w.over {
				return err
			}
		}
		item.More = slices.ContainsFunc(queue[i+1:], w.isNews)
		if w.give(item); w.over {
			return nil
		}
	}
	return nil
}

// catchUp gives what the Source has after the cursor.
func (w *follower) catchUp(ctx context.Context) error {
	for !w.over {
		events, err := w.feed.source.Read(ctx, w.run, w.cursor, readBatch)
		if err != nil {
			return err
		}
		for i := range events {
			if w.give(Item{Event: &events[i], More: i < len(events)-1}); w.over {
				return nil
			}
		}
		if len(events) < readBatch {
			return nil
		}
	}
	return nil
}

// isNews reports whether an item was not given yet.
func (w *follower) isNews(item Item) bool { return item.Event == nil || item.Event.Seq > w.cursor }

func (w *follower) give(item Item) {
	if !w.isNews(item) {
		return
	}
	ended := false
	if item.Event != nil {
		w.cursor = item.Event.Seq
		_, ended = item.Event.Body.(recovery.Ended)
	}
	item.Behind, w.behind = w.behind, false
	if !w.yield(item, nil) || ended {
		w.over = true
	}
}

func (f *Feed) listen(run string, inbox bool) *listener {
	f.mu.Lock()
	defer f.mu.Unlock()
	t := f.topics[run]
	if t == nil {
		t = &topic{listeners: map[*listener]struct{}{}}
		f.topics[run] = t
	}
	l := &listener{wake: make(chan struct{}, 1), inbox: inbox}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.listeners[l] = struct{}{}
	return l
}

func (f *Feed) leave(run string, l *listener) {
	f.mu.Lock()
	defer f.mu.Unlock()
	t := f.topics[run]
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.listeners, l)
	if len(t.listeners) == 0 {
		delete(f.topics, run)
	}
}

func (f *Feed) wait(ctx context.Context, l *listener) error {
	select {
	case <-l.wake:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-f.closed:
		return ErrClosed
	}
}
