package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

var errClosed = errors.New("the plugin host is closed")

// supervised is a plugin and, most of the time, its process.
type supervised struct {
	spec    Spec
	sockets string
	logger  *slog.Logger
	slots   chan struct{} // one for each call in flight
	queue   chan struct{} // one for each call that was taken in

	life context.Context // until close
	end  context.CancelFunc

	ending sync.WaitGroup // processes that are being stopped

	mu        sync.Mutex
	process   *process
	starting  *attempt
	restarts  restarts
	begun     bool // started at least once
	breaker   breaker
	latencies latencies
	version   string
	hash      string
	lastError string
}

// attempt is a start that is under way, for everybody who waits for it.
type attempt struct {
	done    chan struct{}
	process *process
	err     error
}

func supervise(spec Spec, sockets string, logger *slog.Logger) *supervised {
	life, end := context.WithCancel(context.Background())
	return &supervised{
		spec: spec, sockets: sockets, logger: logger, life: life, end: end,
		slots: make(chan struct{}, maxInFlight), queue: make(chan struct{}, maxInFlight+maxQueued),
	}
}

// running gives the living process, starting one where there is none; a start goes
// on when ctx ends first.
func (s *supervised) running(ctx context.Context) (*process, error) {
	for {
		s.mu.Lock()
		if s.process != nil && !s.process.dead(0) {
			defer s.mu.Unlock()
			return s.process, nil
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
			return nil, fmt.Errorf("the plugin is started again in %v: %s", wait.Round(time.Millisecond), s.trouble())
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// beginStart joins or begins a start, or says how long to wait before one. The
// caller holds mu.
func (s *supervised) beginStart(now time.Time) (*attempt, time.Duration, error) {
	switch {
	case s.life.Err() != nil:
		return nil, 0, errClosed
	case s.starting != nil:
		return s.starting, 0, nil
	case s.begun && s.restarts.spent(now):
		return nil, 0, fmt.Errorf("disabled for another %v after %d restarts within %v: %s",
			s.restarts.until(now).Round(time.Second), maxRestarts, restartWindow, s.lastError)
	case s.begun && now.Before(s.restarts.next):
		return nil, s.restarts.next.Sub(now), nil
	case s.begun:
		s.restarts.begin(now)
	}
	s.begun = true
	a := &attempt{done: make(chan struct{})}
	s.starting = a
	go s.start(a)
	return a, 0, nil
}

func (s *supervised) start(a *attempt) {
	ctx, cancel := context.WithTimeout(s.life, startTimeout)
	defer cancel()
	p, err := startProcess(ctx, s.spec, s.sockets, s.logger, s.dispose)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil && s.life.Err() != nil {
		s.dispose(p)
		p, err = nil, errClosed
	}
	a.process, a.err = p, err
	s.starting, s.process = nil, p
	close(a.done)
	if err != nil {
		s.lastError = err.Error()
		s.restarts.ended(time.Now())
		s.logger.Warn("plugin did not start", "error", err)
		return
	}
	s.version, s.hash = p.version, p.hash
	s.logger.Info("plugin started", "pid", p.runner.pid(), "version", p.version)
	s.ending.Add(1)
	go s.watch(p)
}

// dispose stops a process that nobody asks any more; close waits for it.
func (s *supervised) dispose(p *process) { s.ending.Go(p.stop) }

// watch notes the end of a process.
func (s *supervised) watch(p *process) {
	defer s.ending.Done()
	<-p.runner.exited
	s.mu.Lock()
	if s.process == p {
		s.process = nil
	}
	if s.life.Err() == nil {
		s.restarts.ended(time.Now())
		s.lastError = p.explain(errors.New("its process is gone")).Error()
		s.logger.Warn("plugin ended", "pid", p.runner.pid(), "error", s.lastError)
	}
	s.mu.Unlock()
	p.stop() // frees what go-plugin holds
}

func (a *attempt) wait(ctx context.Context) (*process, error) {
	select {
	case <-a.done:
		return a.process, a.err
	case <-ctx.Done():
		return nil, fmt.Errorf("the plugin is still starting: %w", ctx.Err())
	}
}

func (s *supervised) trouble() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lastError
}

func (s *supervised) close() {
	s.end()
	s.mu.Lock()
	p, starting := s.process, s.starting
	s.mu.Unlock()
	if starting != nil {
		<-starting.done // soon, its context is over
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
	st := Status{
		Name: s.spec.Name, Version: s.version, Hash: s.hash, Restarts: s.restarts.total, LastError: s.lastError,
		P50: s.latencies.quantile(0.50), P99: s.latencies.quantile(0.99), State: s.state(time.Now()),
	}
	if s.process != nil {
		st.PID = s.process.runner.pid()
	}
	return st
}

func (s *supervised) state(now time.Time) State {
	switch {
	case s.life.Err() != nil || !s.begun:
		return StateStopped
	case s.breaker.open(now):
		return StateTripped
	case s.starting != nil:
		return StateStarting
	case s.process != nil:
		return StateReady
	case s.restarts.spent(now):
		return StateTripped
	}
	return StateBackoff
}
