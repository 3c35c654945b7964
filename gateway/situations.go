package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// Situation is what a person should see of a run, on its stream.
type Situation struct {
	Run string `json:"run"`
	recovery.Situation
}

// situations are those of the runs that are followed. Each run is folded once for all of
// its followers.
type situations struct {
	log      timeline.Log
	stranded func(context.Context) (map[string]bool, error) // see Config; nil = no run is stranded

	mu   sync.Mutex
	runs map[string]*situation
}

// situation is one run's, as of the newest event that any of its followers got.
type situation struct {
	followers map[*subscriber]bool

	mu    sync.Mutex
	run   recovery.Run
	frame []byte // as it was sent last; nil = it was not
	seq   uint64 // its event
}

func newSituations(cfg Config) *situations {
	return &situations{log: cfg.Log, stranded: cfg.Stranded, runs: map[string]*situation{}}
}

// join adds a follower of a run and returns its situation.
func (s *situations) join(run string, by *subscriber) *situation {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.runs[run]
	if one == nil {
		one = &situation{followers: map[*subscriber]bool{}}
		if s.runs[run] = one; len(s.runs) == 1 && s.stranded != nil {
			s.lookLater()
		}
	}
	one.followers[by] = true
	return one
}

func (s *situations) leave(run string, by *subscriber) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.runs[run]
	if delete(one.followers, by); len(one.followers) == 0 {
		delete(s.runs, run)
	}
}

var errGone = errors.New("they no longer exist")

// foldAtOnce is how many events are read at a time.
const foldAtOnce = 256

// see folds an event that a follower got, so that it need not be read again. An event out of
// sequence is left to after, which reports it.
func (s *situation) see(e *recovery.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.run.Seq+1 == e.Seq {
		_ = s.run.Apply(*e)
	}
}

// after returns the frame of the situation after event e or a later one, and the sequence
// number from which it applies. The frame must not be modified.
func (s *situation) after(ctx context.Context, log timeline.Log, e *recovery.Event) (frame []byte, seq uint64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.run.Seq+1 < e.Seq { // the follower has already got them
		missed, err := log.Read(ctx, e.Run, s.run.Seq, int(min(foldAtOnce, e.Seq-1-s.run.Seq)))
		if err == nil && len(missed) == 0 {
			err = errGone
		}
		if err != nil {
			return nil, 0, fmt.Errorf("run %s: the events before %d: %w", e.Run, e.Seq, err)
		}
		for _, m := range missed {
			if err := s.run.Apply(m); err != nil {
				return nil, 0, err
			}
		}
	}
	if s.run.Seq < e.Seq {
		if err := s.run.Apply(*e); err != nil {
			return nil, 0, err
		}
	}
	if s.frame != nil && s.seq >= e.Seq {
		return s.frame, s.seq, nil
	}
	now := Situation{s.run.ID, s.run.Situation()}
	seq, now.Seq = now.Seq, s.seq
	frame, err = now.frame()
	if err != nil || bytes.Equal(frame, s.frame) { // nothing but the event's number has changed
		return s.frame, s.seq, err
	}
	now.Seq = seq
	if frame, err = now.frame(); err != nil {
		return nil, 0, err
	}
	s.frame, s.seq = frame, seq
	return s.frame, s.seq, nil
}

// frame is what followers get of s.
func (s Situation) frame() ([]byte, error) {
	data, err := json.Marshal(s)
	return fmt.Appendf(nil, "event: situation\ndata: %s\n\n", data), err
}
