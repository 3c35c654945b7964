package runner

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
)

// expiredError is the cause that a call's context ends with when one of its clocks
// expires.
type expiredError struct {
	timer failure.Timer
	limit failure.Millis
}

// Error names the clock.
func (e *expiredError) Error() string {
	return fmt.Sprintf("%s expired after %s", e.timer, words.Spell(e.limit.Duration()))
}

// watchdog keeps the clocks of one stream: first_event, bytes and idle (spec §3).
// A delta only notes the time; one timer looks at the notes when the earliest
// clock could expire.
type watchdog struct {
	limits recovery.Timeouts
	cancel context.CancelCauseFunc

	mu       sync.Mutex
	timer    *time.Timer
	started  bool      // the first event has come
	lastByte time.Time // or the start
	progress time.Time // or the first event
	held     time.Time // since when nobody listens; zero = somebody does
	missed   bool      // the timer ran out meanwhile
}

func newWatchdog(limits recovery.Timeouts, cancel context.CancelCauseFunc) *watchdog {
	now := time.Now()
	w := &watchdog{limits: limits, cancel: cancel, lastByte: now, progress: now}
	w.mu.Lock()
	defer w.mu.Unlock()
	if at, _ := w.earliest(); !at.IsZero() {
		w.timer = time.AfterFunc(time.Until(at), w.look)
	}
	return w
}

// lifeless reports whether d is bytes alone: of a frame nobody knows yet what it means.
func lifeless(d llm.Delta) bool { return d.Kind == llm.DeltaPing || d.Kind == llm.DeltaFrame }

// heard notes a delta.
func (w *watchdog) heard(now time.Time, d llm.Delta) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lastByte = now
	if lifeless(d) {
		return
	}
	first := !w.started
	w.started = true
	if first || d.Progress() {
		w.progress = now
	}
	if first && w.timer != nil {
		if at, _ := w.earliest(); !at.IsZero() {
			w.timer.Reset(time.Until(at))
		}
	} else if first {
		if at, _ := w.earliest(); !at.IsZero() {
			w.timer = time.AfterFunc(time.Until(at), w.look)
		}
	}
}

// earliest is the clock that expires first if nothing more is heard; its time is zero where
// there is none.
func (w *watchdog) earliest() (time.Time, expiredError) {
	if !w.started {
		return deadline(w.lastStart(), failure.TimerFirstEvent, w.limits.FirstEvent)
	}
	bytesAt, bytes := deadline(w.lastByte, failure.TimerBytes, w.limits.Bytes)
	idleAt, idle := deadline(w.progress, failure.TimerIdle, w.limits.Idle)
	if bytesAt.IsZero() || (!idleAt.IsZero() && idleAt.Before(bytesAt)) {
		return idleAt, idle
	}
	return bytesAt, bytes
}

// lastStart is when the call was sent: until the first event, progress is that.
func (w *watchdog) lastStart() time.Time { return w.progress }

func deadline(from time.Time, timer failure.Timer, limit failure.Millis) (time.Time, expiredError) {
	if limit <= 0 {
		return time.Time{}, expiredError{}
	}
	return from.Add(limit.Duration()), expiredError{timer: timer, limit: limit}
}

// look cancels the call if a clock has expired, and else looks again when the next
// one could.
func (w *watchdog) look() {
	w.mu.Lock()
	defer w.mu.Unlock()
	at, expired := w.earliest()
	switch left := time.Until(at); {
	case at.IsZero() || w.timer == nil:
	case !w.held.IsZero():
		w.missed = true
	case left > 0:
		w.timer.Reset(left)
	default:
		w.cancel(&expired)
	}
}

// hold stops the clocks while nobody listens, and lets them go on.
func (w *watchdog) hold(on bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	if on {
		w.held = now
		return
	}
	w.lastByte, w.progress = w.lastByte.Add(now.Sub(w.held)), w.progress.Add(now.Sub(w.held))
	w.held = time.Time{}
	if !w.missed {
		return
	}
	w.missed = false
	if at, _ := w.earliest(); w.timer != nil && !at.IsZero() {
		w.timer.Reset(time.Until(at))
	}
}

func (w *watchdog) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timer != nil {
		w.timer.Stop()
		w.timer = nil
	}
}
