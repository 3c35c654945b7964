package acp

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	protocol "github.com/coder/acp-go-sdk"

	"github.com/mulligan-run/mulligan/timeline"
)

// maxSessions is how many conversations one client may have open.
const maxSessions = 1000

// session is a conversation that the client has open.
type session struct {
	id string

	mu      sync.Mutex
	stop    context.CancelCauseFunc // of the current prompt, nil for none
	last    *turn                   // the last run that was reported
	offered *offer                  // what the next prompt may answer with a number
}

// The causes with which a prompt's context is cancelled.
var (
	errCancelled = errors.New("the client cancelled it")
	errLeft      = errors.New("the client is gone")
)

// begin makes a prompt the current one.
func (s *session) begin(ctx context.Context) (stopped context.Context, over func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stop != nil {
		return nil, nil, invalid(errors.New("the previous prompt is still running; cancel it first"))
	}
	stopped, s.stop = context.WithCancelCause(ctx)
	stop := s.stop
	return stopped, func() {
		s.mu.Lock()
		s.stop = nil
		s.mu.Unlock()
		stop(nil)
	}, nil
}

func (s *session) end(cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stop != nil {
		s.stop(cause)
	}
}

func (s *session) leave() { s.end(errLeft) }

// at gives a session that the client has open.
func (a *agent) at(id protocol.SessionId) (*session, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.sessions[string(id)]
	if s == nil {
		return nil, &protocol.RequestError{Code: codeNotFound, Message: "there is no such session here: session/new begins one, session/load opens one that there is"}
	}
	return s, nil
}

// open opens a session for the client.
func (a *agent) open(id string) (*session, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if s := a.sessions[id]; s != nil {
		return s, nil
	}
	if len(a.sessions) >= maxSessions {
		return nil, invalid(fmt.Errorf("%d sessions are open, which is the most: restart the program", maxSessions))
	}
	s := &session{id: id}
	a.sessions[id] = s
	return s, nil
}

func (a *agent) newSession(ctx context.Context, _ *protocol.NewSessionRequest) (protocol.NewSessionResponse, error) {
	s, err := a.open("acp-" + strings.ToLower(rand.Text()))
	if err != nil {
		return protocol.NewSessionResponse{}, err
	}
	c, err := a.choices(ctx, s.id)
	return protocol.NewSessionResponse{SessionId: protocol.SessionId(s.id), Modes: c.modes, Models: c.models, ConfigOptions: c.options}, err
}

// loadSession repeats everything that was said in a conversation, with whichever client.
func (a *agent) loadSession(ctx context.Context, p *protocol.LoadSessionRequest) (r protocol.LoadSessionResponse, err error) {
	id := string(p.SessionId)
	if err := timeline.CheckSessionID(id); err != nil {
		return r, invalid(err)
	}
	runs, err := a.runsOf(ctx, id)
	if err != nil {
		return r, err
	}
	if _, known := a.at(p.SessionId); len(runs) == 0 && known != nil {
		return r, &protocol.RequestError{Code: codeNotFound, Message: "there is no session " + id}
	}
	s, err := a.open(id)
	if err != nil {
		return r, err
	}
	_, over, err := s.begin(ctx)
	if err != nil {
		return r, err
	}
	defer over()
	for _, run := range runs {
		t := newTurn(a, id, run)
		if err := t.replay(ctx); err != nil {
			return r, err
		}
		s.last, s.offered = t, nil
	}
	if t := s.last; t != nil {
		if open := t.state.OpenSuggestion(time.Now()); open != nil {
			s.offer(t, open)
		}
	}
	c, err := a.choices(ctx, id)
	return protocol.LoadSessionResponse{Modes: c.modes, Models: c.models, ConfigOptions: c.options}, err
}

// runsOf lists the runs of a conversation, the oldest first.
func (a *agent) runsOf(ctx context.Context, session string) ([]string, error) {
	var runs []string
	for q := (timeline.Query{Session: session, Oldest: true, Limit: timeline.DefaultLimit}); ; {
		page, err := a.Log.List(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, r := range page {
			runs = append(runs, r.Run)
		}
		if len(page) < q.Limit {
			return runs, nil
		}
		q.Before = page[len(page)-1].Run
	}
}

// maxListed is how many conversations are listed.
const maxListed = 200

func (a *agent) listSessions(ctx context.Context, p *protocol.ListSessionsRequest) (protocol.ListSessionsResponse, error) {
	out := protocol.ListSessionsResponse{Sessions: []protocol.SessionInfo{}}
	if p.Cwd != nil && *p.Cwd != a.Dir { // all sessions work in this directory
		return out, nil
	}
	list, err := a.Log.Sessions(ctx, maxListed)
	for _, s := range list {
		at := s.Last.UpdatedAt.UTC().Format(time.RFC3339)
		out.Sessions = append(out.Sessions, protocol.SessionInfo{SessionId: protocol.SessionId(s.ID), Title: &s.Title, UpdatedAt: &at, Cwd: a.Dir})
	}
	return out, err
}

// The modes of a session.
const (
	modeAsk  = "ask"
	modeAuto = "auto"
)

// chosen lists what a client may choose for a session, and the current choices.
type chosen struct {
	modes   *protocol.SessionModeState
	models  *protocol.SessionModelState
	options []protocol.SessionConfigOption
}

// optionModel is the name of the option that older clients set by session/set_model.
const optionModel = "model"

func (a *agent) choices(ctx context.Context, session string) (chosen, error) {
	defaults, err := a.Log.Session(ctx, session)
	if err != nil {
		return chosen{}, err
	}
	auto, model := a.AutoRecover, defaults.Model
	if defaults.AutoRecover != nil {
		auto = *defaults.AutoRecover
	}
	c := chosen{modes: &protocol.SessionModeState{CurrentModeId: modeAsk, AvailableModes: []protocol.SessionMode{
		{Id: modeAsk, Name: "Ask", Description: protocol.Ptr("Ask what to do where a model fails")},
		{Id: modeAuto, Name: "Recover by itself", Description: protocol.Ptr("Retry and switch models without asking, as far as the plugins and the limits allow")},
	}}}
	if auto {
		c.modes.CurrentModeId = modeAuto
	}
	var models []protocol.ModelInfo
	var options protocol.SessionConfigSelectOptionsUngrouped
	for _, m := range a.Models() {
		models = append(models, protocol.ModelInfo{ModelId: protocol.ModelId(m.Name), Name: m.Name})
		options = append(options, protocol.SessionConfigSelectOption{Name: m.Name, Value: protocol.SessionConfigValueId(m.Name)})
		if m.Default && model == "" {
			model = m.Name
		}
	}
	if model == "" || len(models) == 0 {
		return c, nil
	}
	c.models = &protocol.SessionModelState{CurrentModelId: protocol.ModelId(model), AvailableModels: models}
	c.options = []protocol.SessionConfigOption{{Select: &protocol.SessionConfigOptionSelect{
		Id: optionModel, Name: "Model", Category: protocol.Ptr(protocol.SessionConfigOptionCategoryModel),
		CurrentValue: protocol.SessionConfigValueId(model), Options: protocol.SessionConfigSelectOptions{Ungrouped: &options}, Type: "select",
	}}}
	return c, nil
}

// change changes the defaults for the runs of a session.
func (a *agent) change(ctx context.Context, id protocol.SessionId, how func(*timeline.Session)) error {
	if _, err := a.at(id); err != nil {
		return err
	}
	defaults, err := a.Log.Session(ctx, string(id))
	if err != nil {
		return err
	}
	defaults.ID = string(id)
	how(&defaults)
	return a.Log.SetSession(ctx, defaults)
}

func (a *agent) choose(ctx context.Context, id protocol.SessionId, model string) error {
	if !slices.ContainsFunc(a.Models(), func(m Model) bool { return m.Name == model }) {
		return invalid(fmt.Errorf("there is no model %.100q; `mulligan doctor` says which there are", model))
	}
	return a.change(ctx, id, func(s *timeline.Session) { s.Model = model })
}

func (a *agent) setModel(ctx context.Context, p *protocol.UnstableSetSessionModelRequest) (protocol.UnstableSetSessionModelResponse, error) {
	return protocol.UnstableSetSessionModelResponse{}, a.choose(ctx, p.SessionId, string(p.ModelId))
}

func (a *agent) setOption(ctx context.Context, p *protocol.SetSessionConfigOptionRequest) (r protocol.SetSessionConfigOptionResponse, err error) {
	if p.ValueId == nil || p.ValueId.ConfigId != optionModel {
		return r, invalid(errors.New("the only option is " + optionModel))
	}
	if err := a.choose(ctx, p.ValueId.SessionId, string(p.ValueId.Value)); err != nil {
		return r, err
	}
	c, err := a.choices(ctx, string(p.ValueId.SessionId))
	r.ConfigOptions = c.options
	return r, err
}

func (a *agent) setMode(ctx context.Context, p *protocol.SetSessionModeRequest) (r protocol.SetSessionModeResponse, err error) {
	if p.ModeId != modeAsk && p.ModeId != modeAuto {
		return r, invalid(fmt.Errorf("there is no mode %.100q, only %s and %s", p.ModeId, modeAsk, modeAuto))
	}
	auto := p.ModeId == modeAuto
	return r, a.change(ctx, p.SessionId, func(s *timeline.Session) { s.AutoRecover = &auto })
}
