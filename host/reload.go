package host

import (
	"context"
	"fmt"
	"time"
)

// drainTimeout is how long calls in flight to a replaced process may take.
const drainTimeout = 5 * time.Second

// Reload replaces the plugin named spec.Name with one that runs as spec says. A new
// process is started beside the old one and is asked from then on; calls in flight
// finish in the old one, for up to 5 s. If the new one does not start before ctx ends,
// the old one stays, and the error says why. Restarts and failures are counted from
// zero for the new one.
func (h *Host) Reload(ctx context.Context, spec Spec) error {
	if err := checkSpec(spec); err != nil {
		return err
	}
	for _, p := range h.all() {
		if p.name == spec.Name {
			return p.reload(ctx, spec)
		}
	}
	return fmt.Errorf("there is no plugin %s", printable(spec.Name, maxName))
}

func (s *supervised) reload(ctx context.Context, spec Spec) error {
	s.reloading.Lock()
	defer s.reloading.Unlock()
	if off := s.off(); off != nil {
		return named(s.name, off.err())
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.life, cancel)()
	fresh, err := s.launch(ctx, spec)
	if err != nil {
		s.logger.Warn("plugin was not reloaded", "error", s.redact(err.Error()))
		return fmt.Errorf("plugin %s was not reloaded and stays as it was: %w", s.name, err)
	}
	s.lockStarted()
	defer s.mu.Unlock()
	if s.life.Err() != nil {
		s.dispose(fresh)
		return errClosed
	}
	s.retire()
	s.replace(spec, fresh)
	s.logger.Info("plugin reloaded", append(whereabouts(fresh), "version", fresh.connected().version)...)
	s.changed()
	return nil
}

// retire lets the peer finish its calls and then stops it. The caller holds mu and decides what is
// asked from then on.
func (s *supervised) retire() {
	if old := s.peer; old != nil {
		s.ending.Go(func() {
			old.connected().calls.drain(s.life, drainTimeout)
			old.stop()
		})
	}
}

// lockStarted takes mu when no start is under way. A start takes at most startTimeout.
func (s *supervised) lockStarted() {
	s.mu.Lock()
	for s.starting != nil {
		starting := s.starting
		s.mu.Unlock()
		<-starting.done
		s.mu.Lock()
	}
}

// replace makes fresh, which runs as spec says, the plugin's peer. The caller holds
// mu.
func (s *supervised) replace(spec Spec, fresh peer) {
	total := s.restarts.total
	s.spec, s.begun, s.lastError, s.language = spec, true, "", language(spec)
	s.restarts, s.breaker, s.latencies = newRestarts(spec), newBreaker(spec.Breaker), latencies{}
	s.restarts.total = total
	s.adopt(fresh)
}
