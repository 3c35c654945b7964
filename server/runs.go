package server

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/gateway"
	"github.com/mulligan-run/mulligan/health"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/timeline"
)

// Runs is what the gateway calls: the runner, with missing fields of requests filled in from
// the session and the configuration.
type Runs struct {
	app    *Server
	runner *runner.Runner
	models *Models
	known  *health.Health
	work   context.Context // of the runs, which outlive their requests
	began  func(*runner.Run)
}

// Start implements gateway.Runs.
func (s *Runs) Start(ctx context.Context, in gateway.Start) (string, error) {
	req, err := s.request(ctx, in)
	if err != nil {
		return "", err
	}
	run, err := s.runner.Start(s.work, req)
	if exists, ok := errors.AsType[*runner.ExistsError](err); ok {
		if exists.Fingerprint != in.Fingerprint {
			return "", gateway.ErrKeyReused
		}
		return exists.Run, nil
	}
	if wrong, ok := errors.AsType[*runner.ToolError](err); ok {
		return "", &gateway.InputError{Field: fmt.Sprintf("tools[%d].%s", wrong.Index, wrong.Field), Err: wrong.Err}
	}
	if errors.Is(err, timeline.ErrSession) || errors.Is(err, runner.ErrSessionBusy) {
		return "", fmt.Errorf("%w: %w", gateway.ErrBusy, err)
	}
	if err != nil {
		return "", err
	}
	s.began(run)
	return run.ID(), nil
}

// request is the requested run with all fields filled in.
func (s *Runs) request(ctx context.Context, in gateway.Start) (runner.Request, error) {
	req := runner.Request{
		Prompt: in.Prompt, Messages: in.Messages, System: in.System, Session: in.Session,
		SessionKey: in.SessionKey, AgentID: in.AgentID, Labels: in.Labels, Needs: in.Needs,
		Timeouts: gateway.Settings(in.Timeouts), Fingerprint: in.Fingerprint,
	}
	for _, t := range in.Tools {
		req.CallerTools = append(req.CallerTools, t.Decl())
	}
	if in.Key != "" {
		sum := sha256.Sum256([]byte(in.Key))
		req.ID = "k" + hex.EncodeToString(sum[:16])
	}
	if err := checkStart(in, req.Timeouts); err != nil {
		return req, err
	}
	defaults, err := s.defaults(ctx, in.Session)
	if err != nil {
		return req, err
	}
	model := cmp.Or(in.Model, defaults.Model, s.models.usualModel(s.app.Config))
	if model == "" {
		return req, &gateway.InputError{Field: "model", Err: errNoModel()}
	}
	if in.Model != "" || in.Session == "" { // a session's own model may be cooling down: the runner checks
		req.Model = model
	}
	fallbacks := s.app.Config.Fallbacks
	if in.Fallbacks != nil {
		fallbacks = in.Fallbacks
	}
	policy := s.runner.Policy()
	policy.Models = append([]string{model}, Without(fallbacks, model)...)
	for i, name := range policy.Models {
		if err := s.checkModel(name); err != nil {
			return req, &gateway.InputError{Field: field(i), Err: err}
		}
	}
	if on := cmp.Or(in.AutoRecover, defaults.AutoRecover); on != nil {
		policy.AutoRecover = *on
	}
	if in.MaxRetries != nil {
		policy.MaxRetries = *in.MaxRetries
	}
	if in.MaxRounds != nil {
		policy.MaxRounds = *in.MaxRounds
	}
	if in.Budget != nil {
		policy.Budget = *in.Budget
	}
	if unpriced := policy.Unpriced(model); len(unpriced) > 0 {
		err := fmt.Errorf("there is a budget of money, and no price of %s in the configuration: what it costs cannot be counted. Add the price there, or give a budget of tokens", strings.Join(unpriced, ", "))
		return req, &gateway.InputError{Field: "budget", Err: err}
	}
	req.Policy = &policy
	return req, nil
}

// checkStart checks a request by itself, without looking anything up.
func checkStart(in gateway.Start, timeouts recovery.Settings) error {
	if err := in.Labels.Check(); err != nil {
		return &gateway.InputError{Field: "labels", Err: err}
	}
	if err := in.Needs.Check(); err != nil {
		return &gateway.InputError{Field: "needs", Err: err}
	}
	if err := timeouts.Check(); err != nil {
		return &gateway.InputError{Field: "timeouts", Err: err}
	}
	return nil
}

func field(i int) string {
	if i == 0 {
		return "model"
	}
	return fmt.Sprintf("fallbacks[%d]", i-1)
}

func (s *Runs) defaults(ctx context.Context, session string) (timeline.Session, error) {
	if session == "" {
		return timeline.Session{}, nil
	}
	if err := timeline.CheckSessionID(session); err != nil {
		return timeline.Session{}, &gateway.InputError{Field: "session", Err: err}
	}
	return s.app.Log.Session(ctx, session)
}

// Inspect implements gateway.Runs.
func (s *Runs) Inspect(ctx context.Context, id string) (*recovery.Run, error) {
	return s.runner.Inspect(ctx, id)
}

// Recover implements gateway.Runs.
func (s *Runs) Recover(_ context.Context, id string, a gateway.Answer) error {
	run, err := s.runner.Recover(s.work, id, runner.Answer{Suggestion: a.Suggestion, Action: a.Action, Model: a.Model})
	if errors.Is(err, runner.ErrSent) {
		return nil
	}
	if err == nil {
		s.began(run)
	}
	return err
}

// returnResults implements gateway.Config's ToolResults.
func (s *Runs) returnResults(_ context.Context, id string, given []gateway.CallResult) error {
	results := make([]runner.CallResult, len(given))
	for i, g := range given {
		results[i] = runner.CallResult{CallID: g.CallID, Text: g.Text, Failed: g.IsError}
	}
	err := s.runner.ReturnResults(s.work, id, results...)
	wrong, ok := errors.AsType[*runner.ToolError](err)
	switch {
	case errors.Is(err, runner.ErrSent):
		return nil
	case !ok:
		return err
	case errors.Is(err, recovery.ErrNoSuchCall), errors.Is(err, recovery.ErrOtherResult), errors.Is(err, recovery.ErrCallOver):
		return wrong.Err
	}
	return &gateway.InputError{Field: fmt.Sprintf("results[%d].%s", wrong.Index, wrong.Field), Err: wrong.Err}
}

// checkModel implements gateway.Config's CheckModel.
func (s *Runs) checkModel(name string) error {
	_, err := s.models.Model(name)
	return err
}

// Cancel implements gateway.Runs.
func (s *Runs) Cancel(_ context.Context, id string) error { return s.runner.Cancel(s.work, id) }

// listModels are the models that can be chosen: the default, the fallbacks and other configured
// ones.
func (s *Runs) listModels() []gateway.Model {
	c := s.app.Config
	chosen := s.models.usualModel(c) // a key may have been added since the start
	names := append([]string{chosen}, c.Fallbacks...)
	names = append(names, c.Models...)
	for _, usual := range usualModels {
		if s.models.Has(usual.model) {
			names = append(names, usual.model)
		}
	}
	var list []gateway.Model
	for i, name := range names {
		if name == "" || slices.Contains(names[:i], name) {
			continue
		}
		entry, _, _ := strings.Cut(name, "/")
		m := gateway.Model{
			Name: name, Provider: words.ProviderName(entry), Ready: s.models.Has(name), Default: name == chosen,
			ContextTokens: s.models.Capabilities(name).ContextTokens, NoImages: s.models.Capabilities(name).NoImages, KeyEnv: s.models.keyEnv(entry),
		}
		if cooling, ok := s.known.Cooling(name, s.known.Now()); ok {
			m.Cooling = &cooling
		}
		list = append(list, m)
	}
	return list
}
