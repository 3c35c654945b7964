package gateway

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/mulligan-run/mulligan/timeline"
)

const (
	heartbeat    = 15 * time.Second // between signs of life on a quiet stream
	writeTimeout = 10 * time.Second // for one event; a client that takes longer is cut
)

var (
	errOver   = errors.New("the stream is over")
	errBehind = errors.New("it does not read as fast as the run goes on: it is told to come back")
)

// subscriber is one client that follows a run.
type subscriber struct {
	w    http.ResponseWriter
	flow *http.ResponseController

	mu   sync.Mutex  // held while something is sent
	beat *time.Timer // of the next sign of life
	over bool        // nothing more may be sent
}

// follow sends what happens until the run has ended, or the client is gone or too far
// behind. There may be thousands who follow: so what is sent is made once for all of them,
// and signs of life come from a timer, and not from a goroutine.
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
			err = s.item(item)
		}
		if err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx) // it is the client or the gateway that ends, and the run does not
	}
	return s.send(end, false)
}

// begin has signs of life sent while nothing else is. Whoever does not take one is gone.
func (s *subscriber) begin(gone context.CancelCauseFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.beat = time.AfterFunc(heartbeat, func() {
		if err := s.send(stillHere, false); err != nil {
			gone(err)
		}
	})
}

// close waits for what is being sent: the answer is not ours any more then.
func (s *subscriber) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	s.beat.Stop()
}

// item sends what happens; to somebody who has missed some of it nothing more, for it has a
// gap that only what is durable fills.
func (s *subscriber) item(item timeline.Item) error {
	if item.Behind {
		if err := s.send(resync, false); err != nil {
			return err
		}
		return errBehind
	}
	frame, err := item.Form(frameOf)
	if err != nil {
		return err
	}
	return s.send(frame, item.More)
}

// send writes a whole event or comment; it may wait for another one that follows at once.
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
