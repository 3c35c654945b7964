package runner

import (
	"sync"
	"sync/atomic"
	"time"
)

// late starts the loops of runs whose first call is not over soon. A loop beside a short call would
// only start timers, on a processor that the answer needs. One timer serves all runs, because a
// timer for each would cost more than many a call can spare.
type late struct {
	mu    sync.Mutex
	calls []*firstCall
	armed bool // look is going to be called
}

// firstCall is the first call of a run that may not have a loop yet.
type firstCall struct {
	began  time.Time
	driven atomic.Bool
	drive  func()
}

// driveOnce drives the run, unless it is driven already.
func (c *firstCall) driveOnce() {
	if !c.driven.Swap(true) {
		c.drive()
	}
}

// callAndDrive makes a run's first call and drives the run: on the goroutine of the call if it is
// over within loopAfter, otherwise on one of its own, which begins at most loopAfter later.
func (l *late) callAndDrive(call, drive func()) {
	c := &firstCall{began: time.Now(), drive: drive}
	l.add(c)
	go func() {
		call()
		c.driveOnce()
	}()
}

func (l *late) add(c *firstCall) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls = append(l.calls, c)
	if !l.armed {
		l.armed = true
		time.AfterFunc(loopAfter, l.look)
	}
}

// look starts the loops that are due, and looks again if others may become so.
func (l *late) look() {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, waiting := time.Now(), l.calls[:0]
	for _, c := range l.calls {
		switch {
		case c.driven.Load():
		case now.Sub(c.began) >= loopAfter:
			go c.driveOnce()
		default:
			waiting = append(waiting, c)
		}
	}
	clear(l.calls[len(waiting):])
	l.calls, l.armed = waiting, len(waiting) > 0
	if l.armed {
		time.AfterFunc(loopAfter, l.look)
	}
}
