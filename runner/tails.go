package runner

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

const (
	tailEvery   = 250 * time.Millisecond
	tailStreams = 50      // that may each be saved once in tailEvery
	tailBytes   = 4 << 20 // that all of them together save per second, approximately
)

// tails says how often the text of an attempt in the air is saved: at most every 250 ms, and less
// often if more than 50 stream at a time or if it is long, since all of it is saved each time. So a
// thousand streams give the disk as much to do as 50 do, and a crash costs each a few lines of an
// answer that is asked for again.
type tails struct{ streams atomic.Int64 }

// every is the least time between two saves of an attempt whose text has that many bytes.
func (t *tails) every(said int) time.Duration {
	streams := time.Duration(t.streams.Load())
	return max(tailEvery, tailEvery*streams/tailStreams, time.Duration(said)*streams*time.Second/tailBytes)
}

// begin counts an attempt that streams, until end is called.
func (t *tails) begin() (end func()) {
	t.streams.Add(1)
	return func() { t.streams.Add(-1) }
}

// keepTail schedules a save of the attempt's text. The caller holds a.mu.
func (a *attempt) keepTail() {
	if a.saving == nil {
		timer := time.AfterFunc(a.loop.r.tails.every(a.answer.TextBytes), a.saveTail)
		a.saving = func() { timer.Stop() }
	}
}

// saveTail saves the attempt's text. Nothing waits for that. If the store does not write now,
// followers only see the text later: it is written with the attempt's end, whatever that is.
func (a *attempt) saveTail() {
	ctx, cancel := context.WithTimeout(a.loop.work, storeSlow)
	defer cancel()
	a.mu.Lock()
	over := a.over
	a.saving = cancel
	a.mu.Unlock()
	if over {
		return
	}
	log, l := a.loop.r.log, a.loop
	tail, err := log.LoadTail(ctx, l.id)
	if err == nil && tail.Attempt == a.id {
		err = log.SaveTail(ctx, l.lease, tail)
	}
	switch {
	case errors.Is(err, timeline.ErrStale):
		l.post(func(context.Context) error { return err })
	case err != nil && ctx.Err() == nil:
		l.r.logger.Warn("what an attempt has said so far was not saved", "run", l.id, "attempt", a.id, "err", err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.over {
		return
	}
	if a.saving = nil; a.answer.TextBytes > tail.Offset+len(tail.Text) {
		a.keepTail()
	}
}

// breakOff stops a stream and returns its text. Text that a provider held back, since it might have
// become a secret, comes when the stream ends: that is waited for, but not for long.
func (l *loop) breakOff(key string, j *job) string {
	l.stop(key, j)
	moment := time.NewTimer(lastWords)
	defer moment.Stop()
	select {
	case <-j.attempt.silent:
	case <-moment.C:
	}
	j.attempt.close() // nothing is shown that is in no event
	return j.attempt.own()
}

// withText adds the attempt's text to an event that ends it from outside (an expired clock, a
// cancel, a crash).
func (l *loop) withText(bodies []recovery.Body) []recovery.Body {
	for i, b := range bodies {
		switch b := b.(type) {
		case recovery.Failed:
			if text, ok := l.said(b.Attempt); ok && b.Text == "" && b.Said == nil { // otherwise the event already has it
				bodies[i] = l.run.Saying(b, text)
			}
		case recovery.CancelRequested:
			b = recovery.CancelRequested{}
			if at := l.run.Attempt; at != nil {
				if text, ok := l.said(at.ID); ok && !l.keepsFigures() {
					b.Attempt, b.Text = at.ID, at.Text+text
				}
			}
			bodies[i] = b
		}
	}
	return bodies
}

// said stops the attempt if it is in the air here, and returns its own text. If it was in the air
// when the run was claimed, said returns what was saved of its text. It is false for any other
// attempt.
func (l *loop) said(attempt uint64) (text string, ok bool) {
	at := l.run.Attempt
	if at == nil || !at.InAir() || at.ID != attempt {
		return "", false
	}
	for key, j := range l.air {
		if j.attempt != nil && j.attempt.id == attempt {
			return l.breakOff(key, j), true
		}
	}
	if l.tail.Attempt == attempt {
		text = l.tail.Text
	}
	return text, true
}

// sayingTail is the run, for reading, with the text of an attempt that is in the air although
// nobody drives the run here any more.
func (l *loop) sayingTail() *recovery.Run {
	a := l.run.Attempt
	if a == nil || !a.InAir() || a.ID != l.tail.Attempt {
		return l.run
	}
	run := l.run.Clone()
	run.Attempt.Text += l.tail.Text
	return run
}

// stillSpeaks is what is written instead of a timer's event if the call in the air has sent
// something that the log does not have.
func (l *loop) stillSpeaks(b recovery.Body) recovery.Body {
	for _, j := range l.air {
		if j.attempt == nil {
			continue
		}
		if silent, ok := j.attempt.silence(); ok {
			if note, ok := l.run.Postpone(b, l.clock.now().Add(-silent).Round(0)); ok {
				return note
			}
		}
	}
	return b
}

// own is the own text of an attempt that is closed, without the text that it continues.
func (a *attempt) own() string { return a.answer.Message("").Text()[a.base():] }

// base is the length in bytes of the other attempt's text that this one continues.
func (a *attempt) base() int {
	if a.from == nil {
		return 0
	}
	return len(a.from.text)
}

// silence is how long ago the attempt last sent text; false if it never did.
func (a *attempt) silence() (time.Duration, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return time.Since(a.spoke), !a.spoke.IsZero()
}

// show publishes a delta to the run's followers, and schedules a save of text. The caller holds
// a.mu, and adds the delta to the answer afterwards.
func (a *attempt) show(d llm.Delta) {
	piece := timeline.Delta{Run: a.loop.id, Attempt: a.id, Offset: a.answer.TextBytes, Text: d.Text}
	switch {
	case d.Kind == llm.DeltaText:
		a.keepTail()
	case d.Kind == llm.DeltaThinking && d.Text != "":
		piece.Offset, piece.Thinking = a.thought, true
		a.thought += len(d.Text)
	default:
		return
	}
	a.loop.r.log.Publish(a.loop.id, piece)
}
