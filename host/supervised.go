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
)

var errClosed = errors.New("the plugin host is closed")

// supervised is a plugin and, most of the time, its process.
type supervised struct {
	name    string
	folders *folders
	logger  *slog.Logger
	changed func()        // tells that status has something new
	slots   chan struct{} // one for each call in flight
	queue   chan struct{} // one for each call that was taken in

	life context.Context // until close
	end  context.CancelFunc

	ending    sync.WaitGroup // processes that are being stopped
	reloading sync.Mutex     // one reload at a time

	mu        sync.Mutex
	spec      Spec
	process   *process
	starting  *attempt
	restarts  restarts
	begun     bool // started at least once
	breaker   breaker
	latencies latencies
	version   string
	hash      string
	language  string
	lastError string
}

// attempt is a start that is under way, for everybody who waits for it.
type attempt struct {
	done    chan struct{}
	process *process
	err     error
}

func supervise(spec Spec, folders *folders, logger *slog.Logger, changed func()) *supervised {
	life, end := context.WithCancel(context.Background())
	return &supervised{
		name: spec.Name, folders: folders, logger: logger, changed: changed, life: life, end: end,
		slots: make(chan struct{}, maxInFlight), queue: make(chan struct{}, maxInFlight+maxQueued),
		spec: spec, restarts: newRestarts(spec.Restart), breaker: newBreaker(spec.Breaker), language: language(spec.Command),
	}
}

// running gives the living process, starting one where there is none; a start goes
// on when ctx ends first.
func (s *supervised) running(ctx context.Context) (*process, error) {
	for {
		s.mu.Lock()
		p := s.process
		if p != nil {
			s.mu.Unlock()
			if !p.dead(0) {
				return p, nil
			}
			select {
			case <-p.noted:
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
			s.restarts.until(now).Round(time.Second), s.restarts.policy.Max, s.restarts.policy.Window, s.lastError)
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
	a.process, a.err = p, err
	s.starting = nil
	close(a.done)
	if err != nil {
		s.lastError = err.Error()
		s.restarts.ended(time.Now())
		s.logger.Warn("plugin did not start", "error", err)
		return
	}
	s.adopt(p)
	s.logger.Info("plugin started", "pid", p.runner.pid(), "version", p.version)
}

// launch starts a process beside what there is.
func (s *supervised) launch(ctx context.Context, spec Spec) (*process, error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	l := &launch{spec: spec, folders: s.folders, logger: s.logger, dispose: s.dispose}
	return l.start(ctx)
}

// adopt makes p the process that is asked. The caller holds mu.
func (s *supervised) adopt(p *process) {
	s.process, s.version, s.hash = p, p.version, p.hash
	s.ending.Add(1)
	go s.watch(p)
}

// dispose stops a process that nobody asks any more; close waits for it.
func (s *supervised) dispose(p *process) { s.ending.Go(p.stop) }

// watch notes the end of a process.
func (s *supervised) watch(p *process) {
	defer s.ending.Done()
	<-p.runner.exited
	p.runner.settle()
	s.mu.Lock()
	if s.process == p {
		s.process = nil
		s.noteEnd(p)
	}
	s.mu.Unlock()
	close(p.noted)
	p.stop() // frees what go-plugin holds
}

// noteEnd is for an end that nobody asked for. The caller holds mu.
func (s *supervised) noteEnd(p *process) {
	if s.life.Err() != nil {
		return
	}
	s.restarts.ended(time.Now())
	cause := errGone
	if why := p.runner.endedByHost(); why != nil {
		cause = why
	}
	s.lastError = p.crash(cause).Error()
	s.logger.Warn("plugin ended", "pid", p.runner.pid(), "error", s.lastError)
	s.changed()
}

var (
	errGone   = errors.New("its process is gone")
	errKilled = errors.New("the host ended it")
)

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
	s.reloading.Lock() // a reload under way ends with life
	defer s.reloading.Unlock()
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
	now := time.Now()
	st := Status{
		Name: s.name, Version: s.version, Language: s.language, State: s.state(now), HostPID: os.Getpid(),
		Hash: s.hash, Pinned: s.spec.Pin != "", Restarts: s.restarts.total, Breaker: s.breaker.state(now), LastError: s.lastError,
		P50: s.latencies.quantile(0.50), P99: s.latencies.quantile(0.99), Labels: maps.Clone(s.spec.Labels),
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
