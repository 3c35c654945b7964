package acp

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	protocol "github.com/coder/acp-go-sdk"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// ending is how long a run may take to end after its client has cancelled it.
const ending = 30 * time.Second

// cancel ends the current prompt, and its run.
func (a *agent) cancel(_ context.Context, p *protocol.CancelNotification) (struct{}, error) {
	s, err := a.at(p.SessionId)
	if err == nil {
		s.end(errCancelled)
	}
	return struct{}{}, err
}

// prompt handles a user's message until it is answered.
func (a *agent) prompt(ctx context.Context, p *protocol.PromptRequest) (r protocol.PromptResponse, err error) {
	s, err := a.at(p.SessionId)
	if err != nil {
		return r, err
	}
	text, err := written(p.Prompt)
	if err != nil {
		return r, err
	}
	stopped, over, err := s.begin(ctx)
	if err != nil {
		return r, err
	}
	defer over()
	if t, o := s.last, s.take(text); o != nil {
		if err := a.answer(ctx, t.run, o.suggestion, o.action); err != nil {
			return r, err
		}
		return a.carry(stopped, s, t, true)
	}
	run, err := a.Runs.Start(ctx, s.id, text)
	for errors.Is(err, ErrBusy) {
		if err := a.finish(stopped, s); err != nil || stopped.Err() != nil {
			return protocol.PromptResponse{StopReason: protocol.StopReasonCancelled}, err
		}
		run, err = a.Runs.Start(ctx, s.id, text)
	}
	if err != nil {
		return r, err
	}
	return a.carry(stopped, s, newTurn(a, s.id, run), true)
}

// answer answers a suggestion; it is also a success if somebody else has answered it.
func (a *agent) answer(ctx context.Context, run, suggestion, action string) error {
	err := a.Runs.Recover(ctx, run, suggestion, action)
	if errors.Is(err, recovery.ErrAnswered) {
		return nil
	}
	return err
}

// finish brings the session's last run to its end if its owner has not; meanwhile the new
// prompt waits.
func (a *agent) finish(stopped context.Context, s *session) error {
	list, err := a.Log.List(stopped, timeline.Query{Session: s.id, Limit: 1})
	if err != nil || len(list) == 0 {
		return err
	}
	t := s.last
	if t == nil || t.run != list[0].Run {
		t = newTurn(a, s.id, list[0].Run)
	}
	resuming, done := context.WithCancel(stopped)
	var over sync.WaitGroup
	defer over.Wait()
	defer done()
	if err := a.Runs.Resume(stopped, t.run); errors.Is(err, timeline.ErrOwned) {
		over.Go(func() { a.takeOver(resuming, t.run) })
	} else if err != nil {
		return fmt.Errorf("the previous run, %s, cannot be continued: %w", t.run, err)
	}
	t.say("*(The answer before comes first.)*\n\n")
	if _, err := a.carry(stopped, s, t, false); err != nil && stopped.Err() == nil && !t.state.Settled() {
		return err
	}
	return nil
}

// takeOver continues a run once nobody drives it: its process may be dead.
func (a *agent) takeOver(ctx context.Context, run string) {
	every := time.NewTicker(time.Second)
	defer every.Stop()
	for errors.Is(a.Runs.Resume(ctx, run), timeline.ErrOwned) {
		select {
		case <-every.C:
		case <-ctx.Done():
			return
		}
	}
}

// carry reports what happens to a run until it has ended, or waits for an answer that nobody here
// can give. If asking is set, it asks about the run's suggestions.
func (a *agent) carry(stopped context.Context, s *session, t *turn, asking bool) (protocol.PromptResponse, error) {
	s.last, s.offered = t, nil
	ctx, done := context.WithCancel(context.WithoutCancel(stopped))
	defer done()
	defer context.AfterFunc(stopped, func() {
		if errors.Is(context.Cause(stopped), errLeft) || a.gone() {
			done()
			return
		}
		time.AfterFunc(ending, done)
		if a.Runs.Cancel(ctx, t.run) != nil {
			done()
		}
	})()
	for item, err := range a.Log.Follow(ctx, t.run, t.state.Seq) {
		if err != nil && ctx.Err() == nil {
			return protocol.PromptResponse{}, fmt.Errorf("run %s cannot be followed: %w", t.run, err)
		}
		if err != nil {
			break
		}
		if err := t.item(item); err != nil {
			return protocol.PromptResponse{}, err
		}
		if item.Event == nil {
			continue
		}
		if _, is := item.Event.Body.(recovery.Suggested); is && (!asking || !a.ask(stopped, s, t)) && stopped.Err() == nil {
			break
		}
	}
	if a.gone() {
		return protocol.PromptResponse{}, errGone
	}
	return t.result(stopped.Err() != nil)
}

// result is the outcome of the run.
func (t *turn) result(cancelled bool) (protocol.PromptResponse, error) {
	r, u := &t.state, t.state.Usage
	about := map[string]any{"run": r.ID, "model": r.Model, "status": r.Status}
	out := protocol.PromptResponse{StopReason: protocol.StopReasonEndTurn, Meta: map[string]any{"mulligan": about}, Usage: usage(u)}
	open := r.OpenSuggestion(time.Now())
	switch {
	case cancelled || r.Status == recovery.StatusCancelled && !t.stopped:
		out.StopReason = protocol.StopReasonCancelled
	case open != nil:
		about["recoverySuggestion"] = open
	case r.Status == recovery.StatusCompleted && r.Truncated():
		out.StopReason = protocol.StopReasonMaxTokens
	case r.Status == recovery.StatusFailed && r.Open != nil && !t.stopped:
		return out, &protocol.RequestError{Code: codeInternal, Message: r.Open.Failure.Line(), Data: about}
	}
	return out, nil
}

func usage(u llm.Usage) *protocol.Usage {
	return &protocol.Usage{
		InputTokens: int(u.InputTokens), OutputTokens: int(u.OutputTokens), TotalTokens: int(u.Total()),
		CachedReadTokens: protocol.Ptr(int(u.CacheReadTokens)), CachedWriteTokens: protocol.Ptr(int(u.CacheWriteTokens)),
	}
}
