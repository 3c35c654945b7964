package timeline

import (
	"context"
	"runtime"
	"slices"

	"github.com/mulligan-run/mulligan/recovery"
)

// follower is the state of one Follow.
type follower struct {
	feed   *feed
	run    string
	cursor uint64
	yield  func(Item, error) bool
	behind bool   // the next item comes after some that were dropped
	lacks  bool   // there may be earlier text that no event has yet
	whole  uint64 // the newest attempt whose last event, with all of its text, was given
	over   bool   // the consumer stopped, or the run ended
}

// follow listens before it reads, so nothing that is appended from then on can be missed. What is
// both read and heard is recognised by its seq and given once.
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
		w.behind = behind && !first // a follower that has not reached the end of the source yet has missed nothing
		w.lacks = w.lacks || first || behind
		if err := w.giveAll(ctx, queue); err != nil || w.over {
			return err
		}
		if stale { // after the queue, whose live pieces came before what is only in the source
			if err := w.catchUp(ctx); err != nil || w.over {
				return err
			}
		}
		if err := w.giveTail(ctx); err != nil || w.over {
			return err
		}
		if err := w.feed.wait(ctx, l); err != nil {
			return err
		}
	}
}

// giveAll gives the queue and, before each item, the events from the source that the queue does not
// have.
func (w *follower) giveAll(ctx context.Context, queue []Item) error {
	for i, item := range queue {
		if item.after > w.cursor || item.Event != nil && item.Event.Seq > w.cursor+1 {
			if err := w.catchUp(ctx); err != nil || w.over {
				return err
			}
		}
		if item.after > w.cursor { // the store has less than it had
			w.lacks = true
			continue
		}
		item.More = slices.ContainsFunc(queue[i+1:], w.isNews)
		if w.give(item); w.over {
			return nil
		}
	}
	return nil
}

// giveTail gives a follower that joined in the middle of an attempt all of the attempt's reasoning
// and text so far, after the event that began it. Live pieces may repeat parts of them; readers drop
// those by their offsets.
func (w *follower) giveTail(ctx context.Context) error {
	if !w.lacks {
		return nil
	}
	t, err := w.feed.source.LoadTail(ctx, w.run)
	if err != nil {
		return err
	}
	if t.Attempt != 0 { // followers here get the live pieces that come after it
		w.feed.Heard(w.run, t)
	}
	t, thought := w.feed.tails.all(w.run, t)
	if t.Seq > w.cursor {
		if err := w.catchUp(ctx); err != nil || w.over {
			return err
		}
	}
	if w.lacks = t.Seq > w.cursor; w.lacks {
		return nil
	}
	for _, d := range []Delta{{Text: thought, Thinking: true}, {Offset: t.Offset, Text: t.Text}} {
		if d.Run, d.Attempt = w.run, t.Attempt; d.Text != "" && !w.over {
			w.give(Item{Delta: &d})
		}
	}
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
		runtime.KeepAlive(b) // until here, other followers can find b
		if last {
			return nil
		}
	}
	return nil
}

// isNews reports whether an item was not given yet. An owner that does not know yet that it has
// lost the run may publish more than the last event of its attempt has.
func (w *follower) isNews(item Item) bool {
	if d := item.Delta; d != nil {
		return d.Attempt == 0 || d.Attempt > w.whole
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
			w.whole = max(w.whole, attempt)
			w.feed.tails.over(w.run, attempt)
		}
	}
	item.Behind, w.behind = w.behind, false
	if !w.yield(item, nil) || ended {
		w.over = true
	}
}
