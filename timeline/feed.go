package timeline

import (
	"context"
	"iter"
	"maps"
	"runtime"
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

// feed is what Follow and Commands are built on. It hands what was just appended to the
// followers of this process; whatever a follower missed it reads from the source.
type feed struct {
	source feedSource
	reads  *reads
	closed chan struct{}
	tails  tails

	mu     sync.RWMutex      // held for a moment only: runs do not wait for each other's followers
	topics map[string]*topic // of the runs that somebody listens to
}

// topic is a run that somebody listens to.
type topic struct {
	mu         sync.Mutex
	seq, inbox uint64 // how far it is known to be
	listeners  map[*listener]struct{}
}

// newFeed makes a feed over source.
func newFeed(source feedSource) *feed {
	return &feed{source: source, reads: newReads(source), closed: make(chan struct{}), topics: map[string]*topic{}, tails: tails{of: map[string]*tail{}}}
}

// Appended shows events to the run's followers. It is called once they are durable,
// in the order of the run, and before the Append returns.
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

// Publish shows d to the run's followers, and keeps text for those to come.
func (f *feed) Publish(run string, d Delta) {
	if !d.Thinking {
		f.tails.grow(run, d)
	}
	if t := f.topic(run); t != nil && t.followed() {
		shown := d // d itself costs nothing where nobody follows
		shown.Run = run
		t.tell(Item{Delta: &shown})
	}
}

// Tail gives what a run that this process drives says now; false where it drives none, or
// nothing is in the air.
func (f *feed) Tail(run string) (Tail, bool) { return f.tails.here(run) }

// Heard shows the run's followers what another process saved of what its attempt says; the
// zero Tail where nothing is in the air any more.
func (f *feed) Heard(run string, t Tail) {
	if piece, ok := f.tails.heard(run, t); ok {
		if topic := f.topic(run); topic != nil {
			topic.tell(Item{Delta: &piece})
		}
	}
}

// Lacks reports whether Heard would show something, or end it: another process saved that
// many bytes of what that attempt says, 0 and 0 for nothing.
func (f *feed) Lacks(run string, attempt uint64, bytes int) bool {
	return f.tails.lacks(run, attempt, bytes)
}

// Left forgets what the run said here: it was claimed, or let go of.
func (f *feed) Left(run string) { f.tails.forget(run, false) }

// Notify shows a notice to the run's followers.
func (f *feed) Notify(run, text string) {
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

// Moved says how far the run and its inbox are, by whomever; listeners who do not
// know it yet look into the source.
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

// Deleted has the run's listeners look into the source, which does not know it any more.
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

// Runs lists the runs that somebody listens to, or those of the named ones.
func (f *feed) Runs(named ...string) []string {
	f.mu.RLock()
	defer f.mu.RUnlock()
	if len(named) == 0 {
		return slices.Collect(maps.Keys(f.topics))
	}
	return slices.DeleteFunc(named, func(run string) bool { return f.topics[run] == nil })
}

// Close ends every listener with ErrClosed. It is called once.
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

// follower is a Follow at work.
type follower struct {
	feed   *feed
	run    string
	cursor uint64
	yield  func(Item, error) bool
	behind bool   // what is given next comes after something that was given up
	lacks  bool   // text that was said before, which no event has yet
	whole  uint64 // the attempt whose last event was given, which has all of its text
	over   bool   // the consumer stopped, or the run ended
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
		w.behind = behind && !first // whoever has not come to the end of the source yet has missed nothing
		w.lacks = w.lacks || first || behind
		if stale {
			if err := w.catchUp(ctx); err != nil || w.over {
				return err
			}
		}
		if err := w.giveAll(ctx, queue); err != nil || w.over {
			return err
		}
		if err := w.giveTail(ctx); err != nil || w.over {
			return err
		}
		if err := w.feed.wait(ctx, l); err != nil {
			return err
		}
	}
}

// giveAll gives what was heard, and before it what the source has and was not.
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

// giveTail gives all that the attempt in the air has said to who came in the middle of it, once
// its beginning was given. What of that comes as live pieces, too, is dropped by who knows it.
func (w *follower) giveTail(ctx context.Context) error {
	if !w.lacks {
		return nil
	}
	t, err := w.feed.source.LoadTail(ctx, w.run)
	if err != nil {
		return err
	}
	if w.lacks = t.Seq > w.cursor; w.lacks || t.Text == "" {
		return nil
	}
	w.feed.tails.heard(w.run, t) // those here who follow it, too, get what follows that
	w.give(Item{Delta: &Delta{Run: w.run, Attempt: t.Attempt, Offset: t.Offset, Text: t.Text}})
	return nil
}

// catchUp gives what the source has after the cursor.
func (w *follower) catchUp(ctx context.Context) error {
	for !w.over {
		b, last, err := w.feed.reads.after(ctx, w.run, w.cursor)
		if err != nil {
			return err
		}
		for i := range b.events {
			if w.give(Item{Event: &b.events[i], More: i < len(b.events)-1}); w.over {
				return nil
			}
		}
		runtime.KeepAlive(b) // others find it as long
		if last {
			return nil
		}
	}
	return nil
}

// isNews reports whether an item was not given yet. An owner that does not know yet that it is
// none any more may say more than the last event of its attempt has.
func (w *follower) isNews(item Item) bool {
	if d := item.Delta; d != nil {
		return d.Attempt == 0 || d.Attempt != w.whole
	}
	return item.Event == nil || item.Event.Seq > w.cursor
}

func (w *follower) give(item Item) {
	if !w.isNews(item) {
		return
	}
	ended := false
	if item.Event != nil {
		w.cursor = item.Event.Seq
		_, ended = item.Event.Body.(recovery.Ended)
		if attempt, ends := endedBy(item.Event.Body); ends {
			w.whole = attempt
		}
	}
	item.Behind, w.behind = w.behind, false
	if !w.yield(item, nil) || ended {
		w.over = true
	}
}

func (f *feed) listen(run string, inbox bool) *listener {
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
