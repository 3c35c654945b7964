package pi

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/mulligan-run/mulligan/internal/procgroup"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/provider/internal/observe"
)

// session is a conversation and the Pi that serves it, if one is running.
type session struct {
	engine *Engine
	name   string
	talk   chan struct{} // of capacity 1: held by the caller that gives Pi something to do

	passing bool // it is only for one request, such as a summary: nothing is kept, no tool is run

	users int         // calls in flight; the engine's lock guards it
	idle  *time.Timer // ends a Pi that nobody asks; likewise

	mu       sync.Mutex
	proc     *process // nil = none
	latest   *process // also after it has ended; nil = none was started
	live     bool     // Pi is in the middle of a turn
	sleeping bool     // … and waits before it retries by itself
	asked    asked    // what Pi asks, or will ask next
	terms    terms    // what the process was started with
	level    string   // of thinking, before a request said how much; "" = no request did
	settles  bool     // Pi says when a run is over
	secrets  *observe.Secrets
}

func newSession(e *Engine, name string) *session {
	return &session{engine: e, name: name, talk: make(chan struct{}, 1), secrets: observe.NewSecrets()}
}

// take takes the session for a caller, who returns it with done.
func (s *session) take(ctx context.Context) error {
	select {
	case s.talk <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (s *session) done() { <-s.talk }

// stream yields one message of Pi's model.
func (s *session) stream(ctx context.Context, request llm.Request, yield func(llm.Delta, error) bool) {
	defer s.engine.leave(s)
	if err := s.take(ctx); err != nil {
		yield(llm.Delta{}, err)
		return
	}
	defer s.done()
	target, err := s.engine.split(request.Model)
	if err != nil {
		yield(llm.Delta{}, err)
		return
	}
	h := &messageStream{session: s, model: request.Model, provider: target.provider, yield: yield}
	h.underway = s.goesOn(ctx, request, target)
	var answer *message
	if !h.underway {
		answer, err = s.begin(ctx, request, target)
	}
	switch {
	case err != nil && ctx.Err() != nil:
		s.abort()
		yield(llm.Delta{}, context.Cause(ctx))
	case err != nil:
		yield(llm.Delta{}, h.trouble(err))
	case answer != nil:
		h.repeat(answer)
	default:
		h.hear(ctx)
		s.thinkAsBefore()
	}
}

// begin makes Pi do what the plan for the request says. The answer is not nil if Pi has already
// given it.
func (s *session) begin(ctx context.Context, request llm.Request, target asked) (*message, error) {
	s.abort()
	p, err := s.ready(ctx, request, target)
	if err != nil {
		return nil, err
	}
	data, err := p.ask(ctx, answerTime, map[string]any{"type": "get_messages"})
	if err != nil {
		return nil, err
	}
	known, err := knownMessages(data)
	if err != nil {
		return nil, err
	}
	plan, err := planFor(request.Messages, known, s.engine.cfg.Name)
	if err != nil {
		return nil, observe.PromptFailure(target.provider, request.Model, err)
	}
	if plan.answer != nil {
		return plan.answer, nil
	}
	s.think(ctx, p, request.ReasoningEffort)
	s.set(func() { s.live, s.sleeping = true, false })
	p.ignore(false)
	return nil, p.prompt(ctx, plan.command())
}

// goesOn reports whether Pi is in the middle of a turn with that model. A Pi that sleeps before it
// retries can be given another model for that, on the same terms.
func (s *session) goesOn(ctx context.Context, request llm.Request, target asked) bool {
	p := s.process()
	s.mu.Lock()
	live, sleeping, same, fits := s.live, s.sleeping, s.asked == target, s.terms == termsOf(request)
	s.mu.Unlock()
	switch {
	case p == nil || !live:
		return false
	case !sleeping:
		return same
	case !fits:
		return false
	case !same && s.setModel(ctx, p, target) != nil:
		return false
	}
	p.seen.asks(request.Model)
	s.think(ctx, p, request.ReasoningEffort)
	return true
}

// ready gives a Pi that waits for something to do, and that asks that model.
func (s *session) ready(ctx context.Context, request llm.Request, target asked) (*process, error) {
	p := s.process()
	s.mu.Lock()
	same, fits := s.asked == target, s.terms == termsOf(request)
	s.mu.Unlock()
	if p != nil && fits && (same || s.setModel(ctx, p, target) == nil) {
		p.seen.asks(request.Model)
		return p, nil
	}
	if p != nil {
		s.end(p)
	}
	err := procgroup.Patiently(ctx, func() (err error) {
		p, err = s.start(ctx, request, target)
		return err
	})
	return p, err
}

func (s *session) setModel(ctx context.Context, p *process, target asked) error {
	_, err := p.ask(ctx, answerTime, map[string]any{"type": "set_model", "provider": target.provider, "modelId": target.model})
	if err == nil {
		s.set(func() { s.asked = target })
	}
	return err
}

// start starts a Pi for the session.
func (s *session) start(ctx context.Context, request llm.Request, target asked) (*process, error) {
	e := s.engine
	if !e.Installed() {
		return nil, &misconfiguredError{fmt.Errorf("there is no program %s; %s", e.cfg.Command[0], install)}
	}
	v, err := e.ask(ctx)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case procgroup.Scarce(err):
		return nil, &misconfiguredError{fmt.Errorf("start %s: %w", e.cfg.Command[0], err)}
	case err != nil:
		e.cfg.Logger.Warn("the version of Pi is not known", "err", err)
	}
	if err := e.folder.prepare(); err != nil {
		return nil, &misconfiguredError{fmt.Errorf("the private folder of Pi: %w", err)}
	}
	mark, err := e.own()
	if err != nil {
		return nil, &misconfiguredError{fmt.Errorf("the private folder of Pi: %w", err)}
	}
	args := []string{"--mode", "rpc", "--provider", target.provider, "--model", target.model, "--extension", e.folder.extension(extensionFile)}
	if s.passing {
		args = append(args, "--no-session", "--no-tools")
	} else {
		args = append(args, "--session", e.folder.session(s.name))
	}
	terms := termsOf(request)
	more, variables, err := terms.arguments(e.folder)
	if err != nil {
		return nil, &misconfiguredError{fmt.Errorf("the private folder of Pi: %w", err)}
	}
	program, secrets, err := e.command(append(args, more...)...)
	if err != nil {
		return nil, &misconfiguredError{err}
	}
	program.Env = append(append(program.Env, variables...), mark)
	secrets = append(secrets, e.folder.secrets()...)
	seen, err := e.observed(&program, target.provider, secrets)
	if err != nil {
		return nil, &misconfiguredError{err}
	}
	seen.asks(request.Model)
	p, err := start(program, seen)
	if err != nil {
		seen.end()
		return nil, &misconfiguredError{fmt.Errorf("start %s: %w", e.cfg.Command[0], err)}
	}
	s.set(func() {
		s.proc, s.latest, s.live, s.sleeping, s.asked, s.terms = p, p, false, false, target, terms
		s.settles = !v.before(settles)
		s.secrets = observe.NewSecrets(append(secrets, seen.own()...)...)
	})
	return p, nil
}

// misconfiguredError keeps any Pi from running.
type misconfiguredError struct{ error }

func (e *misconfiguredError) Unwrap() error { return e.error }

// process gives the Pi that is running, or nil.
func (s *session) process() *process {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.proc != nil && s.proc.isGone() {
		s.proc, s.live, s.sleeping = nil, false, false
	}
	return s.proc
}

// last is the Pi that was started last, or nil.
func (s *session) last() *process {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.latest
}

func (s *session) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

// rests records that Pi's turn is over.
func (s *session) rests() { s.set(func() { s.live, s.sleeping = false, false }) }

// abort ends Pi's turn, if it is in the middle of one. A Pi that does not stop is ended.
func (s *session) abort() {
	p := s.process()
	s.mu.Lock()
	live := s.live
	s.mu.Unlock()
	if p == nil || !live {
		return
	}
	p.ignore(true)
	if _, err := p.ask(context.Background(), abortTime, map[string]any{"type": "abort"}); err != nil {
		s.end(p)
	}
	s.rests()
}

// end ends a process of the session.
func (s *session) end(p *process) {
	p.stop()
	s.set(func() {
		if s.proc == p {
			s.proc, s.live, s.sleeping = nil, false, false
		}
	})
}

// release ends the process, after it has stopped what it is doing.
func (s *session) release() {
	if p := s.process(); p != nil {
		s.abort()
		s.end(p)
	}
}

// result waits for the result of a call of Pi's.
func (s *session) result(ctx context.Context, call llm.ToolCall, said func(string)) (llm.ToolResult, error) {
	defer s.engine.leave(s)
	p := s.process()
	if p == nil {
		return llm.ToolResult{}, errors.New("the Pi that began it has ended")
	}
	text, failed, err := p.result(ctx, call.ID, func(text string) { said(s.clean(text)) })
	if err != nil && ctx.Err() != nil {
		_ = s.take(context.WithoutCancel(ctx)) // nobody else keeps the session for long
		s.abort()
		s.done()
		text, failed, err = p.known(call.ID, err)
	}
	if err != nil {
		return llm.ToolResult{}, errors.New(s.clean(err.Error()))
	}
	return llm.ToolResult{CallID: call.ID, Name: call.Name, Text: text, IsError: failed}, nil
}

// clean removes secrets from text.
func (s *session) clean(text string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.secrets.Text(text)
}

// leave ends a caller's use of a session. If no other call uses it and its Pi has nothing to do,
// the Pi is kept for a while.
func (e *Engine) leave(s *session) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s.users--
	if s.users > 0 {
		return
	}
	p := s.process()
	s.mu.Lock()
	live := s.live
	s.mu.Unlock()
	switch {
	case p == nil:
		delete(e.sessions, s.name)
	case !live:
		s.idle = time.AfterFunc(idleTime, func() { e.endIdle(s) })
	}
}

func (e *Engine) endIdle(s *session) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if s.users == 0 {
		go s.release()
		delete(e.sessions, s.name)
	}
}

// isRefusal gives what Pi says about a command that it does not carry out.
func isRefusal(err error) (string, bool) {
	r, ok := errors.AsType[*refusedError](err)
	if !ok {
		return "", false
	}
	return r.text, true
}
