package gateway

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

const (
	heartbeat    = 15 * time.Second // between keep-alive comments on a quiet stream
	writeTimeout = 10 * time.Second // for one event; a slower client is disconnected
)

var (
	errOver   = errors.New("the stream is over")
	errBehind = errors.New("the client reads more slowly than the run goes on, and is told to reconnect")
)

// subscriber is one client that follows a run.
type subscriber struct {
	w    http.ResponseWriter
	flow *http.ResponseController

	situation *situation
	owed      *recovery.Event // the last event, whose situation has not been sent yet
	told      uint64          // the event whose situation was sent last

	stranded atomic.Uint64 // the event after which it was told that no machine drives the run; 0 = it was not told

	mu   sync.Mutex  // held while sending
	beat *time.Timer // sends the next keep-alive
	over bool        // nothing more may be sent
}

// follow sends events until the run has ended, or the client is gone or too far behind.
// There may be thousands of followers, so each frame is encoded once for all of them, and
// keep-alives come from a timer instead of a goroutine.
func (s *subscriber) follow(ctx context.Context, log timeline.Log, run string, after uint64) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s.begin(cancel)
	defer s.close()
	if err := s.send(welcome, false); err != nil {
		return err
	}
	for item, err := range log.Follow(ctx, run, after) {
		if err == nil {
			err = s.item(ctx, log, item)
		}
		if err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx) // the client or the gateway ends, not the run
	}
	return s.send(end, false)
}

// begin starts keep-alives for quiet times. A client that does not take one is gone.
func (s *subscriber) begin(gone context.CancelCauseFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.beat = time.AfterFunc(heartbeat, func() {
		if err := s.send(stillHere, false); err != nil {
			gone(err)
		}
	})
}

// close waits for a send in progress; after it the ResponseWriter must not be used.
func (s *subscriber) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	s.beat.Stop()
}

// item sends an item. A follower that has missed live items gets a resync and nothing more,
// because only durable events can fill its gap.
func (s *subscriber) item(ctx context.Context, log timeline.Log, item timeline.Item) error {
	if item.Behind {
		if err := s.send(resync, false); err != nil {
			return err
		}
		return errBehind
	}
	long := item.Event != nil && isLong(item.Event)
	var frame []byte
	if !long {
		var err error
		if frame, err = item.Form(frameOf); err != nil {
			return err
		}
	}
	if item.Event != nil {
		s.owed = item.Event
		s.situation.see(item.Event)
	}
	if s.owed != nil && (item.Event == nil || !item.More) { // a live item comes after the situation that it belongs to
		if err := s.sendSituation(ctx, log); err != nil {
			return err
		}
	}
	if long {
		return s.sendLong(item.Event)
	}
	return s.send(frame, item.More)
}

// sendLong writes an event piece by piece, because otherwise every follower's copy of its JSON
// would be held in memory. Each piece has the time limit of an event.
func (s *subscriber) sendLong(e *recovery.Event) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return errOver
	}
	w := &deadlineWriter{s.w, s.flow}
	if _, err := w.Write(eventHead(e.Seq)); err != nil {
		return err
	}
	if err := writeEvent(w, *e); err != nil { // it ends with a line break
		return err
	}
	if _, err := w.Write([]byte("\n")); err != nil {
		return err
	}
	s.beat.Reset(heartbeat)
	return s.flow.Flush()
}

// sendSituation sends the situation after the owed event, if it changed. It goes before the
// event, so that a client that got the event and reconnects after it has the situation.
func (s *subscriber) sendSituation(ctx context.Context, log timeline.Log) error {
	frame, seq, err := s.situation.after(ctx, log, s.owed)
	if err != nil {
		return err
	}
	s.owed = nil
	if seq == s.told {
		return nil
	}
	s.told = seq
	return s.send(frame, true)
}

// send writes a whole event or comment. With more, it need not be flushed yet, because
// another follows at once.
func (s *subscriber) send(frame []byte, more bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return errOver
	}
	if err := s.flow.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return err
	}
	if _, err := s.w.Write(frame); err != nil {
		return err
	}
	s.beat.Reset(heartbeat)
	if more {
		return nil
	}
	return s.flow.Flush()
}
