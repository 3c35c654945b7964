package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/oklog/ulid/v2"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// Request is what a run starts with. Prompt, Messages or Call is needed; empty fields are filled
// in from the Runner.
type Request struct {
	// ID is the run's id, 1 to 64 lower-case letters, digits and '-'; "" = a new one. If a run with
	// that id exists, Start fails with an *ExistsError.
	ID string
	// Fingerprint is stored with the run. It distinguishes the same request sent twice from another
	// request with the same ID.
	Fingerprint string

	Prompt   string
	Messages []llm.Message
	System   string
	Model    string
	// Session is the conversation that the run continues; the first run that names it creates it.
	// Empty fields are filled in from the session first, and then from the Runner: see
	// timeline.Session. The model of the first run becomes the session's; the model of a later run
	// is only that run's.
	Session string
	// SessionKey and AgentID are the caller's own names for its conversation and its agent, at most
	// 512 bytes each. Plugins are told them. They mean nothing to the run.
	SessionKey, AgentID string
	// Call is the request of a caller that waits for the answer, in place of Prompt, Messages and
	// System. A run with a Call has no Session.
	Call *Call
	// Labels are the embedder's own words, by which runs can be listed. Models do not get them.
	Labels recovery.Labels
	// Needs are labels of a machine, besides those that the tools and the model need: see
	// WithMachine.
	Needs recovery.Labels

	// Tools are this run's own, in addition to the Runner's; one replaces a Runner's tool of the
	// same name. They are functions of this process: a process that resumes the run later has only
	// its own Runner's tools, and the model is told which are missing.
	Tools []Tool
	// CallerTools are tools that the caller of Start carries out. When a model calls one, the run
	// waits for ReturnResults, for Timeout or the policy's usual time for a tool, and needs no
	// process while it waits. They have no effect with an engine or with Call. None may have the
	// name of another tool.
	CallerTools []recovery.ToolDecl
	// Plugins names those of the Runner's hooks that this run asks, in the Runner's order; nil =
	// all of them, an empty list = none. Hooks on trial are always asked.
	Plugins []string

	Policy   *recovery.Policy
	Timeouts recovery.Settings // timers of this run, which override all others
	// AutoRecover replaces Policy.AutoRecover for this run; nil = unchanged.
	AutoRecover *bool
	// Form is the form of the run's answers, such as JSON: see FormatOf. Engines ignore it, and so
	// does a run with a Call.
	Form recovery.Form

	awaited bool // whoever starts the run waits for it, and calls its handle's first
}

// maxCallerName is the longest SessionKey or AgentID, in bytes.
const maxCallerName = 512

// checkCaller refuses caller names that cannot be passed on.
func (req Request) checkCaller() error {
	for _, name := range [...]struct{ field, value string }{{"session key", req.SessionKey}, {"agent id", req.AgentID}} {
		if len(name.value) > maxCallerName || !utf8.ValidString(name.value) {
			return fmt.Errorf("the %s is not valid UTF-8 of at most %d bytes", name.field, maxCallerName)
		}
	}
	return nil
}

// Start begins a run. When it returns without an error the run is durable, and goes on until it
// settles or ctx ends. The end of ctx cancels the run, or only releases it if the cause is ErrLetGo
// (with WithDetached another context decides). In a session Start fails with ErrSessionBusy while
// the run before it goes on, and closes a suggestion that is open there.
func (r *Runner) Start(ctx context.Context, req Request) (*Run, error) {
	if req.ID != "" {
		unlock := r.beginning.lock(req.ID)
		defer unlock()
		if err := r.vacant(ctx, req.ID); err != nil {
			return nil, fmt.Errorf("start run: %w", err)
		}
	}
	start := r.startAlone
	if req.Session != "" && req.Call == nil {
		start = r.startTurn
	}
	run, err := start(ctx, req)
	if err != nil && req.ID != "" {
		if exists := r.vacant(ctx, req.ID); exists != nil { // another process was first
			err = exists
		}
	}
	if err != nil {
		return nil, fmt.Errorf("start run: %w", err)
	}
	return run, nil
}

// startAlone begins a run without a session.
func (r *Runner) startAlone(ctx context.Context, req Request) (*Run, error) {
	tools := r.toolsOf(req)
	started, err := r.started(ctx, req, tools)
	if err != nil {
		return nil, err
	}
	return r.begin(ctx, req, started, tools, nil)
}

// begin begins a run that continues before, nil for none.
func (r *Runner) begin(ctx context.Context, req Request, started recovery.Started, tools []Tool, before *folded) (*Run, error) {
	id := cmp.Or(req.ID, newID())
	if req.Call != nil {
		r.calls.Store(id, req.Call)
	}
	l := r.newLoop(&recovery.Run{}, id, timeline.Lease{})
	l.offered, l.awaited = tools, req.awaited
	l.unlock = r.claiming.lock(id)
	if before != nil {
		l.before, l.behind = before.Conversation(), before.behind+1
	}
	err := l.open(ctx, started)
	if err == nil && req.Call != nil && req.Call.Begun != nil {
		req.Call.Begun(id)
	}
	return l.launchAfter(ctx, err)
}

func (r *Runner) started(ctx context.Context, req Request, tools []Tool) (s recovery.Started, err error) {
	input := req.Messages
	if req.Prompt != "" {
		input = append(slices.Clone(input), llm.User(req.Prompt))
	}
	if len(input) == 0 && req.Call == nil {
		return recovery.Started{}, errors.New("there is no prompt")
	}
	if err := errors.Join(req.checkCaller(), req.Labels.Check()); err != nil {
		return recovery.Started{}, err
	}
	s = recovery.Started{
		SessionKey: req.SessionKey, AgentID: req.AgentID, Labels: maps.Clone(req.Labels),
		Model: cmp.Or(req.Model, r.model), System: cmp.Or(req.System, r.system),
		Input: input, Policy: r.policy, Session: req.Session, Fingerprint: req.Fingerprint,
	}
	if req.Policy != nil {
		s.Policy = *req.Policy
		s.Policy.DayBudget = r.policy.DayBudget // one run cannot lift it
	}
	if req.AutoRecover != nil {
		s.Policy.AutoRecover = *req.AutoRecover
	}
	if err := r.pinModel(&s); err != nil {
		return recovery.Started{}, err
	}
	r.staysWith(&s, req.Call)
	if err := r.pinTimeouts(&s.Policy, s.Model, req.Timeouts); err != nil {
		return recovery.Started{}, err
	}
	if unpriced := s.Policy.Unpriced(s.Model); len(unpriced) > 0 {
		return recovery.Started{}, fmt.Errorf("there is a budget of money, and no price of %s: put it in Policy.Prices", strings.Join(unpriced, ", "))
	}
	if deadline, ok := ctx.Deadline(); ok && r.detached == nil {
		s.WaitsUntil = deadline.UTC().Round(0)
	}
	if err = r.pinPlugins(&s.Policy, req); err != nil {
		return recovery.Started{}, err
	}
	if s.Policy.AutoRecover && len(s.Policy.Plugins) == 0 {
		r.unadvised.Do(r.warnUnadvised)
	}
	if req.Call != nil {
		if err := r.refuseEngine(s.Policy.Models); err != nil {
			return recovery.Started{}, err
		}
		s.Cooling = r.coolingCall(s)
		req.ask(&s)
	} else if err := cmp.Or(r.declareTools(&s, tools), r.declareCallerTools(&s, tools, req.CallerTools), r.pinForm(&s, req.Form)); err != nil {
		return recovery.Started{}, err
	}
	s.Needs, err = r.needsOf(req, s.Model, tools)
	r.hideStarted(&s)
	return s, err
}

// pinModel limits the run's models to those that exist. A run may return to its first model.
func (r *Runner) pinModel(s *recovery.Started) error {
	if s.Model == "" {
		return errors.New("no model is chosen; use WithModel or Request.Model")
	}
	if _, err := r.models.Model(s.Model); err != nil {
		return err
	}
	if !slices.Contains(s.Policy.Models, s.Model) {
		s.Policy.Models = append([]string{s.Model}, s.Policy.Models...)
	}
	return nil
}

// pinPlugins sets which plugins are asked, and which models run on this machine, because plugins
// may forbid all others. A request cannot leave out plugins that are asked before calls.
func (r *Runner) pinPlugins(p *recovery.Policy, req Request) (err error) {
	p.Plugins, err = r.pluginsOf(req)
	p.Local, p.BeforeCall, p.ToolError = nil, nil, nil
	for _, h := range r.hooks() {
		if !h.Shadow && h.Takes(recovery.HookBeforeCall) {
			p.BeforeCall = append(p.BeforeCall, recovery.Gatekeeper{Plugin: h.Name, FailClosed: h.FailClosed})
		}
		if !h.Shadow && h.Takes(recovery.HookToolError) && (req.Plugins == nil || slices.Contains(req.Plugins, h.Name)) {
			p.ToolError = append(p.ToolError, h.Name)
		}
	}
	for _, name := range p.Models {
		if len(p.Plugins)+len(p.BeforeCall) > 0 && r.models.Capabilities(name).Local {
			p.Local = append(p.Local, name)
		}
	}
	return err
}

// declareTools declares the tools that the run's model may have.
func (r *Runner) declareTools(s *recovery.Started, tools []Tool) error {
	if err := r.check(tools); err != nil {
		return err
	}
	for _, t := range tools {
		if t.isFor(s.Model) {
			s.Tools = append(s.Tools, t.decl())
		}
	}
	return nil
}

// pinForm sets the form of the run's answers, if it is valid.
func (r *Runner) pinForm(s *recovery.Started, f recovery.Form) error {
	if f == (recovery.Form{}) {
		return nil
	}
	if err := f.Check(s.Tools); err != nil {
		return err
	}
	if f.Format != nil {
		if _, err := r.schemas.ofText(f.Format.Schema); err != nil {
			return fmt.Errorf("the format of the answer: %w", err)
		}
	}
	s.Form = &f
	return nil
}

// warnUnadvised says that nothing is retried, since no hook says what to retry. That is a mistake
// in the program, so it is said even if no logger was set.
func (r *Runner) warnUnadvised() {
	logger := r.logger
	if !logger.Enabled(context.Background(), slog.LevelWarn) {
		logger = slog.Default()
	}
	logger.Warn("a run recovers by itself, and no hook says how: nothing will be repeated; add one, such as autorecover.Hook(), by runner.WithHook")
}

// pinTimeouts resolves the timers of a run that begins with model, under the given settings.
func (r *Runner) pinTimeouts(p *recovery.Policy, model string, set recovery.Settings) error {
	for _, s := range []recovery.Settings{r.settings, set} {
		if err := s.CheckFrom(r.minTimeout); err != nil {
			return fmt.Errorf("timeouts: %w", err)
		}
	}
	resolve := r.timeouts
	if resolve == nil {
		given := *p
		resolve = func(model string, run recovery.Settings) recovery.Timeouts {
			return recovery.ResolveTimeouts(given.TimeoutsOf(model), r.settings, run)
		}
	}
	p.PinTimeouts(model, func(model string) recovery.Timeouts { return resolve(model, set) })
	err := p.Timeouts.Check() // the policy's author may choose shorter ones
	for _, own := range p.ModelTimeouts {
		err = cmp.Or(err, own.Check())
	}
	if err != nil {
		return fmt.Errorf("timeouts: %w", err)
	}
	return nil
}

func newID() string { return "r" + strings.ToLower(ulid.Make().String()) }
