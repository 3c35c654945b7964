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

// expiredError is the cause of a call's context when one of its timers expires.
type expiredError struct {
	timer failure.Timer
	limit failure.Millis
}

// Error names the timer.
func (e *expiredError) Error() string {
	return fmt.Sprintf("%s expired after %s", e.timer, words.Duration(e.limit.Duration()))
}

// watchdog runs the timers of one stream: first_event, bytes and idle (spec §3). A delta only
// records the time; a single timer checks the records when the next of the three could expire.
type watchdog struct {
	limits recovery.Timeouts
	cancel context.CancelCauseFunc

	mu       sync.Mutex
	timer    *time.Timer
	started  bool      // the first event has come
	lastByte time.Time // when bytes last came, or the start
	progress time.Time // when progress was last made, or the first event came
	held     time.Time // since when nobody reads; zero = somebody does
	missed   bool      // the timer expired in that time
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

// lifeless reports whether d is bytes without a meaning. The meaning of a frame is not known yet.
func lifeless(d llm.Delta) bool { return d.Kind == llm.DeltaPing || d.Kind == llm.DeltaFrame }

// heard records a delta.
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

// earliest is the timer that expires first if nothing more is received; its time is zero if there
// is none.
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

// lastStart is when the call was sent: progress holds that time until the first event.
func (w *watchdog) lastStart() time.Time { return w.progress }

func deadline(from time.Time, timer failure.Timer, limit failure.Millis) (time.Time, expiredError) {
	if limit <= 0 {
		return time.Time{}, expiredError{}
	}
	return from.Add(limit.Duration()), expiredError{timer: timer, limit: limit}
}

// look cancels the call if a timer has expired; otherwise it looks again when the next one could
// expire.
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

// hold stops the timers, from that time on, while nobody reads.
func (w *watchdog) hold(from time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.held = from
}

// goOn restarts the timers.
func (w *watchdog) goOn(now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
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
