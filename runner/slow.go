package runner

import (
	"context"
	"sync"
	"time"
)

// slow finds the writes of all runs that take longer than storeLong. Nearly all end sooner, so they
// share one timer, which may expire for nothing.
type slow struct {
	mu      sync.Mutex
	writes  map[*writing]time.Time // when each counts as slow
	timer   *time.Timer            // nil before the first write
	running bool
}

// writing is one try of a storeWait.
type writing struct {
	*storeWait
	ctx      context.Context // over when the try is
	stop     context.CancelCauseFunc
	patience time.Time       // when to give up
	over     <-chan struct{} // closed when the run is cancelled or released; nil = that does not matter
}

// begin makes w attended if it has not ended within storeLong.
func (s *slow) begin(w *writing) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.writes == nil {
		s.writes = map[*writing]time.Time{}
	}
	s.writes[w] = time.Now().Add(storeLong)
	if !s.running {
		s.run(storeLong)
	}
}

// end records that a write has ended.
func (s *slow) end(w *writing) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.writes, w)
}

// run starts the timer. The caller holds s.mu.
func (s *slow) run(moment time.Duration) {
	s.running = true
	if s.timer == nil {
		s.timer = time.AfterFunc(moment, s.look)
		return
	}
	s.timer.Reset(moment)
}

// look attends the writes that take too long, and looks again when the next one could.
func (s *slow) look() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running = false
	var next time.Time
	for w, at := range s.writes {
		if time.Until(at) <= 0 {
			delete(s.writes, w)
			go w.attend()
		} else if next.IsZero() || at.Before(next) {
			next = at
		}
	}
	if !next.IsZero() {
		s.run(time.Until(next))
	}
}

// attend watches a write that takes longer than most, tells people in time, and stops the write
// when it should be given up.
func (w *writing) attend() {
	slow, end := time.NewTimer(time.Until(w.began.Add(storeSlow))), time.NewTimer(time.Until(w.patience))
	defer slow.Stop()
	defer end.Stop()
	for {
		select {
		case <-w.ctx.Done():
			return
		case <-end.C:
			w.stop(context.DeadlineExceeded)
			return
		case <-w.over:
			idle(w.ctx, cancelGrace)
			w.stop(context.Canceled)
			return
		case <-slow.C:
			if !w.isTold() {
				w.tell("it takes long to answer")
			}
		}
	}
}
