package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
)

// lookStranded is how often followed runs are checked for being stranded.
const lookStranded = time.Second

// stranded returns the runs that no machine can drive; none if that is unknown.
func (g *Gateway) stranded(ctx context.Context) map[string]bool {
	if g.cfg.Stranded == nil {
		return nil
	}
	runs, err := g.cfg.Stranded(ctx)
	if err != nil {
		g.cfg.Logger.Info("which runs no machine can drive is not known", "err", err)
	}
	return runs
}

// viewed is the document of a run, including what no event says: whether it is
// stranded.
func (g *Gateway) viewed(ctx context.Context, r *recovery.Run) Run {
	v := view(r, g.cfg.Now())
	if len(r.Needs) > 0 && !r.Settled() && g.stranded(ctx)[r.ID] {
		v.Situation = v.Situation.Stranded(r.Needs, r.Last)
	}
	return v
}

// lookLater tells followers that their run has become stranded, or no longer is. The caller holds
// s.mu. It repeats as long as there are followers.
func (s *situations) lookLater() {
	time.AfterFunc(lookStranded, func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*lookStranded)
		defer cancel()
		if runs, err := s.stranded(ctx); err == nil {
			s.tell(ctx, runs)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if len(s.runs) > 0 {
			s.lookLater()
		}
	})
}

// tell sends the current state to followers who were told something else.
func (s *situations) tell(ctx context.Context, stranded map[string]bool) {
	type telling struct {
		run  string
		of   *situation
		them []*subscriber
	}
	var all []telling
	s.mu.Lock()
	for run, one := range s.runs {
		t := telling{run: run, of: one}
		for by := range one.followers {
			if stranded[run] || by.stranded.Load() > 0 {
				t.them = append(t.them, by)
			}
		}
		if len(t.them) > 0 {
			all = append(all, t)
		}
	}
	s.mu.Unlock()
	for _, t := range all {
		frame, seq, err := t.of.now(ctx, s, t.run, stranded[t.run])
		if err != nil {
			continue // its followers learn it from the log
		}
		for _, by := range t.them {
			by.tellStranded(frame, seq, stranded[t.run])
		}
	}
}

// tellStranded sends the frame of a situation after an event, unless it was sent. Events that arrive
// meanwhile have situations of their own, and the next check covers them.
func (s *subscriber) tellStranded(frame []byte, seq uint64, stranded bool) {
	told := uint64(0)
	if stranded {
		told = seq
	}
	if before := s.stranded.Swap(told); before == told || !stranded && before != seq {
		return
	}
	_ = s.send(frame, false) // a client that is gone is noticed by follow
}

// now is the frame of the run's present situation, and the last event folded into it.
func (s *situation) now(ctx context.Context, of *situations, run string, stranded bool) (frame []byte, seq uint64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for more := true; more; {
		events, err := of.log.Read(ctx, run, s.run.Seq, foldAtOnce)
		if err != nil {
			return nil, 0, err
		}
		for e := range slices.Values(events) {
			if err := s.run.Apply(e); err != nil {
				return nil, 0, err
			}
		}
		more = len(events) == foldAtOnce
	}
	said := s.run.Situation()
	if stranded && !s.run.Settled() {
		said = said.Stranded(s.run.Needs, s.run.Last)
	}
	data, err := json.Marshal(Situation{run, said})
	return fmt.Appendf(nil, "event: situation\ndata: %s\n\n", data), s.run.Seq, err
}
