package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"sync"
	"time"

	"github.com/mulligan-run/mulligan/internal/procgroup"
)

var errClosed = errors.New("the plugin host is closed")

// supervised is a plugin together with its peer, if it has one.
type supervised struct {
	name    string
	folders *folders
	logger  *slog.Logger
	redact  func(string) string
	changed func()        // reports a change of status
	slots   chan struct{} // one for each call in flight
	queue   chan struct{} // one for each call accepted

	life context.Context // ends with close
	end  context.CancelFunc

	ending    sync.WaitGroup // peers that are being stopped
	reloading sync.Mutex     // one reload at a time

	mu        sync.Mutex
	spec      Spec
	peer      peer // nil if there is none
	starting  *attempt
	restarts  restarts
	begun     bool // started at least once
	breaker   breaker
	latencies latencies
	version   string
	hash      string
	language  string
	lastError string
	disabled  *Disabled // nil = not disabled
	said      lastLines // of all its processes
}

// attempt is a start under way, shared by everybody who waits for it.
type attempt struct {
	done chan struct{}
	peer peer
	err  error
}

func supervise(spec Spec, folders *folders, logger *slog.Logger, redact func(string) string, changed func()) *supervised {
	life, end := context.WithCancel(context.Background())
	return &supervised{
		name: spec.Name, folders: folders, logger: logger, redact: redact, changed: changed, life: life, end: end,
		slots: make(chan struct{}, maxInFlight), queue: make(chan struct{}, maxInFlight+maxQueued),
		spec: spec, restarts: newRestarts(spec), breaker: newBreaker(spec.Breaker), language: language(spec),
	}
}

// running returns the living peer and starts one if there is none. If ctx ends first,
// the start goes on.
func (s *supervised) running(ctx context.Context) (peer, error) {
	for {
		if s.life.Err() != nil {
			return nil, errClosed
		}
		s.mu.Lock()
		p := s.peer
		if p != nil {
			s.mu.Unlock()
			if !isGone(p) {
				return p, nil
			}
			select {
			case <-p.connected().noted:
				continue
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		begun, wait, err := s.beginStart(time.Now())
		s.mu.Unlock()
		switch {
		case err != nil:
			return nil, err
		case begun != nil:
			return begun.wait(ctx)
		}
		if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < wait+pipeGrace {
			return nil, notAsked(fmt.Sprintf("the plugin is tried again in %v: %s", wait.Round(time.Millisecond), s.trouble()))
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// beginStart joins or begins a start, or returns how long to wait before the next one.
// The caller holds mu.
func (s *supervised) beginStart(now time.Time) (*attempt, time.Duration, error) {
	switch {
	case s.life.Err() != nil:
		return nil, 0, errClosed
	case s.disabled != nil:
		return nil, 0, s.disabled.err()
	case s.starting != nil:
		return s.starting, 0, nil
	case s.begun && s.restarts.spent(now):
		return nil, 0, notAsked(fmt.Sprintf("disabled for another %v after %d restarts within %v: %s",
			s.restarts.until(now).Round(time.Second), s.restarts.policy.Max, s.restarts.policy.Window, s.lastError))
	case s.begun && now.Before(s.restarts.next):
		return nil, s.restarts.next.Sub(now), nil
	case s.begun:
		s.restarts.begin(now)
	}
	s.begun = true
	a := &attempt{done: make(chan struct{})}
	s.starting = a
	go s.start(a, s.spec)
	s.changed()
	return a, 0, nil
}

func (s *supervised) start(a *attempt, spec Spec) {
	p, err := s.launch(s.life, spec)
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.changed()
	if err == nil && s.life.Err() != nil {
		s.dispose(p)
		p, err = nil, errClosed
	}
	a.peer, a.err = p, err
	s.starting = nil
	close(a.done)
	if err != nil {
		s.failed(err)
		s.restarts.ended(time.Now())
		s.logger.Warn("plugin did not start", "error", s.lastError)
		return
	}
	s.adopt(p)
	s.logger.Info("plugin started", append(whereabouts(p), "version", p.connected().version)...)
}

// launch starts or connects to a new peer, without replacing the current one.
func (s *supervised) launch(ctx context.Context, spec Spec) (p peer, err error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	err = procgroup.Patiently(ctx, func() (err error) {
		if spec.Address != "" {
			p, err = reach(ctx, spec)
			return err
		}
		l := &launch{spec: spec, folders: s.folders, logger: s.logger, said: &s.said, redact: s.redact, dispose: s.dispose}
		p, err = l.start(ctx)
		return err
	})
	return p, err
}

// adopt makes p the plugin's peer. The caller holds mu.
func (s *supervised) adopt(p peer) {
	t := p.connected()
	s.peer, s.version, s.hash = p, s.redact(t.version), t.hash
	s.ending.Add(1)
	go s.watch(p)
}

// dispose stops a peer that is no longer asked; close waits for it.
func (s *supervised) dispose(p peer) { s.ending.Go(p.stop) }

// watch waits for a peer to end and records it.
func (s *supervised) watch(p peer) {
	defer s.ending.Done()
	<-p.gone()
	words := p.lastWords()
	s.mu.Lock()
	if s.peer == p {
		s.peer = nil
		s.noteEnd(p, words)
	}
	s.mu.Unlock()
	close(p.connected().noted)
	p.stop() // releases its resources
}

// noteEnd records an end that nobody asked for. The caller holds mu.
func (s *supervised) noteEnd(p peer, words error) {
	if s.life.Err() != nil {
		return
	}
	s.restarts.ended(time.Now())
	s.failed(words)
	s.logger.Warn("plugin ended", append(whereabouts(p), "error", s.lastError)...)
	s.changed()
}

var (
	errGone   = errors.New("its process is gone")
	errKilled = errors.New("the host ended it")
)

// whereabouts are a peer's attributes in the log.
func whereabouts(p peer) []any {
	if pid := p.pid(); pid > 0 {
		return []any{"pid", pid}
	}
	return nil
}

func (a *attempt) wait(ctx context.Context) (peer, error) {
	select {
	case <-a.done:
		return a.peer, a.err
	case <-ctx.Done():
		return nil, fmt.Errorf("the plugin is still starting: %w", ctx.Err())
	}
}

// failed notes the plugin's last trouble. The caller holds mu.
func (s *supervised) failed(err error) {
	if _, ours := errors.AsType[notAsked](err); !ours {
		s.lastError = s.redact(err.Error())
	}
}

// notAsked says that a plugin is not asked now, and after what trouble, which stays its last one.
type notAsked string

func (e notAsked) Error() string { return string(e) }

func (s *supervised) trouble() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lastError
}

func (s *supervised) close() {
	s.end()
	s.reloading.Lock() // a reload under way ends with life
	defer s.reloading.Unlock()
	s.mu.Lock()
	p, starting := s.peer, s.starting
	s.mu.Unlock()
	if starting != nil {
		<-starting.done // returns soon, since its context has ended
	}
	if p != nil {
		p.stop()
	}
	ended := make(chan struct{})
	go func() { s.ending.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(stopTimeout):
	}
}

func (s *supervised) status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	st := Status{
		Name: s.name, Address: s.spec.Address, Version: s.version, Language: s.language, State: s.state(now), HostPID: os.Getpid(),
		Hash: s.hash, Pinned: s.spec.Pin != "", FailClosed: s.spec.FailClosed, Restarts: s.restarts.total, Breaker: s.breaker.state(now), LastError: s.lastError,
		P50: s.latencies.quantile(0.50), P99: s.latencies.quantile(0.99), Labels: maps.Clone(s.spec.Labels), Disabled: s.disabled,
	}
	if s.peer != nil {
		known := s.peer.connected().certificates
		st.PID, st.ServerCertEnds, st.ClientCertEnds = s.peer.pid(), known.server, known.client
	}
	return st
}

func (s *supervised) state(now time.Time) State {
	switch {
	case s.life.Err() == nil && s.disabled != nil:
		return StateDisabled
	case s.life.Err() != nil || !s.begun:
		return StateStopped
	case s.breaker.open(now):
		return StateTripped
	case s.starting != nil:
		return StateStarting
	case s.peer != nil:
		return StateReady
	case s.restarts.spent(now):
		return StateTripped
	}
	return StateBackoff
}
