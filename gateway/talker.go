package gateway

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/mulligan-run/mulligan/gateway/internal/tell"
	"github.com/mulligan-run/mulligan/timeline"
)

// voice encodes what it is told in a protocol.
type voice interface {
	tell.Listener
	// Take returns what is to be sent.
	Take() ([]byte, error)
	// Broke ends the stream of a run that goes on.
	Broke(line string)
}

// talker streams a run to one client.
type talker struct {
	w     http.ResponseWriter
	flow  *http.ResponseController
	voice voice

	mu     sync.Mutex // held while sending
	teller *tell.Teller
	now    func() time.Time
	beat   *time.Timer // sends the next keep-alive
	look   *time.Timer // for what changes as time passes
	over   bool
}

// goesOn is what a client is told when its stream breaks but the run goes on.
const goesOn = "The connection to the run was lost; the run itself goes on. Load the page again to follow it."

// talk streams a run to a client until its end.
func (g *Gateway) talk(ctx context.Context, w http.ResponseWriter, t talked, v voice) {
	s := &talker{w: w, flow: http.NewResponseController(w), voice: v, teller: tell.New(v, t.seq, t.answered), now: g.cfg.Now}
	if err := s.follow(ctx, g.cfg.Log, t.run); err != nil && ctx.Err() == nil {
		g.gone(t.run, err)
	}
}

func (s *talker) follow(ctx context.Context, log timeline.Log, run string) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s.mu.Lock()
	s.beat = time.AfterFunc(heartbeat, func() { s.alive(cancel) })
	s.look = time.AfterFunc(heartbeat, func() { s.passes(cancel) })
	s.mu.Unlock()
	defer s.close()
	for item, err := range log.Follow(ctx, run, 0) {
		if err == nil {
			err = s.item(item)
		}
		if err != nil {
			return s.broke(err)
		}
		if s.teller.Over() {
			return nil
		}
	}
	return s.broke(context.Cause(ctx)) // the client or the gateway ends, not the run
}

// broke tells the client, if it is still there, that the stream ends.
func (s *talker) broke(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.voice.Broke(goesOn)
	_ = s.send(false)
	return err
}

// item encodes an item.
func (s *talker) item(item timeline.Item) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.teller.Item(item, s.now()); err != nil {
		return err
	}
	if item.Event != nil {
		s.lookAgain()
	}
	return s.send(item.More)
}

// passes encodes what has changed because time passed.
func (s *talker) passes(gone context.CancelCauseFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return
	}
	s.lookAgain()
	if err := s.send(false); err != nil {
		gone(err)
	}
}

func (s *talker) lookAgain() {
	if next := s.teller.Look(s.now()); !next.IsZero() {
		s.look.Reset(max(next.Sub(s.now()), time.Millisecond))
	}
}

// alive sends a keep-alive. A client that does not take it is gone.
func (s *talker) alive(gone context.CancelCauseFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.write(stillHere, false); err != nil {
		gone(err)
	}
}

// close waits for a send in progress; after it the ResponseWriter must not be used.
func (s *talker) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	s.beat.Stop()
	s.look.Stop()
}

// send sends what the voice has encoded. With more, it need not be flushed yet,
// because more follows at once.
func (s *talker) send(more bool) error {
	data, err := s.voice.Take()
	if err != nil {
		return err
	}
	if len(data) == 0 && more {
		return nil
	}
	return s.write(data, more)
}

// write writes piece by piece; each piece has the time limit of an event.
func (s *talker) write(data []byte, more bool) error {
	if s.over {
		return errOver
	}
	if _, err := (&deadlineWriter{s.w, s.flow}).Write(data); err != nil {
		return err
	}
	s.beat.Reset(heartbeat)
	if more {
		return nil
	}
	return s.flow.Flush()
}
