package sim

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// screen folds what a follower receives, as a client does: text grows by deltas, is replaced by the
// text of the event that ends its attempt, is withdrawn when Began says so, and is final once
// Answered.
type screen struct {
	seq     uint64
	ended   bool
	attempt uint64
	live    string // the text of the current attempt
	crashed bool   // its owner died, and may have lost the end of the text
	final   string // the last answer
	late    bool   // live is shown, and not final
	whole   bool   // live is the text of the attempt's last event, and later deltas do not belong to it
	again   bool   // the attempt repeats a request whose answer was truncated, and that answer stays final until then
	wrong   []string
}

// follow shows the run to its end. It loses its connection now and then, and reconnects after the
// last event that it received, to any of several machines.
func (s *screen) follow(ctx context.Context, w *world, run string) {
	d := newDice(w.recipe.seed, diceScreen)
	for !s.ended && ctx.Err() == nil {
		at, since := w.connect(ctx, d), time.Now()
		for item, err := range at.Follow(at.ctx, run, s.seq) {
			if err != nil {
				w.complain("I29: follow: %v", err)
				return
			}
			if item.Event != nil && !w.holds(run, item.Event.Seq) {
				s.complain("I31: event %d is shown before it is durable", item.Event.Seq)
			}
			if item.Event != nil {
				s.timely(w, item.Event, since, at)
			}
			s.show(item)
			if d.chance(0.02) {
				break
			}
		}
		at.leave()
	}
}

// latest is how long after an event became durable it may be shown, whichever machine wrote it.
const latest = 500 * time.Millisecond

// timely checks that an event is shown in time to a screen that has been connected since a moment.
func (s *screen) timely(w *world, e *recovery.Event, since time.Time, at *member) {
	if resumesAt := at.resumesAt(); resumesAt.After(since) {
		since = resumesAt
	}
	written := w.disk.written(e.Seq)
	if late := min(time.Since(since), time.Since(written)); late > latest {
		s.complain("I29: event %d is shown %s after it was durable", e.Seq, late)
	}
	before := written.Add(-latest)
	if s.attempt == 0 || s.whole || !s.late || since.After(before) {
		return
	}
	if saved := w.disk.savedBy(before, s.attempt); len(s.live) < saved {
		s.complain("I29: %d bytes of attempt %d are shown before event %d, and %d were saved %s before that", len(s.live), s.attempt, e.Seq, saved, latest)
	}
}

// holds reports whether the disk has that event.
func (w *world) holds(run string, seq uint64) bool {
	events, err := w.disk.Read(context.Background(), run, seq-1, 1)
	return err == nil && len(events) == 1
}

func (s *screen) show(item timeline.Item) {
	if d := item.Delta; d != nil {
		if !d.Thinking && d.Attempt == s.attempt && s.late && !s.whole {
			s.grow(d.Offset, d.Text)
		}
		return
	}
	e := item.Event
	if e == nil {
		return // a notice; an event follows with the same news as soon as it can be written
	}
	if e.Seq != s.seq+1 {
		s.complain("I29: event %d was followed by %d", s.seq, e.Seq)
	}
	s.seq = e.Seq
	switch b := e.Body.(type) {
	case recovery.Claimed:
		s.crashed = true
	case recovery.Began:
		if s.live != "" && b.Withdraws != s.attempt {
			s.complain("I09: event %d: %q of attempt %d stays on the screen: attempt %d withdraws %d", e.Seq, s.live, s.attempt, b.Attempt, b.Withdraws)
		}
		s.attempt, s.live, s.crashed, s.late, s.whole = b.Attempt, "", false, true, false
		s.again = b.Again
	case recovery.Answered:
		text := b.Message.Text()
		if b.Attempt != s.attempt || !strings.HasPrefix(text, s.live) {
			s.complain("I09: event %d: attempt %d showed %q, attempt %d answered %q", e.Seq, s.attempt, s.live, b.Attempt, text)
		}
		s.final, s.live, s.late = text, "", false
		s.again = false
	case recovery.Failed:
		s.over(e, b.Attempt, b.Text)
		s.leaveAgain()
	case recovery.CancelRequested:
		s.over(e, b.Attempt, b.Text)
	case recovery.Ended:
		s.leaveAgain()
		s.ended = true
	}
}

// leaveAgain shows the truncated answer again after the attempt to replace it ended.
func (s *screen) leaveAgain() {
	if s.again {
		s.live, s.late, s.again = "", false, false
	}
}

// over takes the text of an attempt from its last event. It contains everything that was shown,
// unless a crash lost the end of it.
func (s *screen) over(e *recovery.Event, attempt uint64, text string) {
	if attempt == 0 || attempt != s.attempt {
		return
	}
	if !strings.HasPrefix(text, s.live) && !s.crashed {
		s.complain("I09: event %d: attempt %d showed %q, and %q is kept", e.Seq, attempt, s.live, text)
	}
	s.live, s.whole = text, true
}

// grow adds a piece unless it is known already or a piece before it is missing.
func (s *screen) grow(offset int, text string) {
	if offset > len(s.live) || offset+len(text) <= len(s.live) {
		return
	}
	if rest := s.live[offset:]; !strings.HasPrefix(text, rest) {
		s.complain("I09: attempt %d: at %d %q was shown as %q", s.attempt, offset, text, rest)
	}
	s.live = s.live[:offset] + text
}

func (s *screen) complain(format string, args ...any) {
	s.wrong = append(s.wrong, fmt.Sprintf(format, args...))
}

// text is what the screen shows in the end.
func (s *screen) text() string {
	if s.live != "" {
		return s.live
	}
	return s.final
}
