package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// Runner starts and drives runs. It is safe for concurrent use; New's options
// decide everything about it.
type Runner struct {
	beginning  locks // of ids that requesters chose
	recall     recall
	claiming   locks // of runs that are claimed here and not driven yet
	log        timeline.Log
	models     Models
	hooks      func() []hooks.Named
	health     Health
	policy     recovery.Policy
	model      string
	system     string
	tools      func() []Tool
	owner      string
	now        func() time.Time
	slept      func() time.Duration
	leaseTTL   time.Duration
	logger     *slog.Logger
	observer   Observer                                                    // nil = nobody
	driven     sync.Map                                                    // id → *Run, of the runs that this Runner drives
	settings   recovery.Settings                                           // timers of all runs
	timeouts   func(model string, run recovery.Settings) recovery.Timeouts // nil = settings and the run's own
	minTimeout time.Duration
	deadlines  hooks.Deadlines
	busy       busy // runs that are driven, tools that have not ended
	unadvised  sync.Once

	checkpoints checkpoints
	schemas     schemas

	connectivity Connectivity
}

// Models finds a model by its full name, provider/model.
type Models interface {
	// Model gives the model, or an error that says which names there are.
	Model(name string) (llm.Model, error)
	// Has reports whether the model could be called now: it is known and has
	// credentials.
	Has(name string) bool
	// ContextTokens is the size of its context window, 0 where it is not known.
	ContextTokens(name string) int64
}

// Health is what is known about models across runs; *health.Health is one.
type Health interface {
	Failed(model string, f failure.Failure, at time.Time)
	Succeeded(model string)
	Cooling(model string, at time.Time) (recovery.Cooldown, bool)
	// Turn takes the next turn to call model, and gives how long it is until then.
	Turn(model string) time.Duration

	// Reserve counts what a call may use against the day's budget, unless that lacks room.
	Reserve(at time.Time, reserve, limit recovery.Budget) (spent recovery.Budget, lacks string)
	// Spend corrects what was counted of a call that began at that time.
	Spend(at time.Time, used recovery.Budget)
}

// Event is what a run's Events yield: a durable event, or a live piece of text.
type Event = timeline.Item

// Request is what a run starts from. Either Prompt or Messages is needed; what is
// left empty is the Runner's.
type Request struct {
	// ID is the run's, of 1 to 64 small letters, digits and '-'; "" = a new one. Where
	// there is a run of that id already, Start fails with an *ExistsError.
	ID string
	// Fingerprint is kept with the run, so that another request with its ID can be told
	// from the same one sent twice.
	Fingerprint string

	Prompt   string
	Messages []llm.Message
	System   string
	Model    string
	// Session is the conversation that the run goes on with; the first run that names it
	// makes it. What the request leaves open is then the session's, before it is the
	// Runner's: see timeline.Session. The model that the first run asks for is the
	// session's; a later run's own is that run's only.
	Session  string
	Policy   *recovery.Policy
	Timeouts recovery.Settings // timers of this run: nothing outranks them
	// AutoRecover is Policy.AutoRecover of this run.
	AutoRecover *bool
}

// Answer is a person's answer to a suggestion, to a live wait, or to a model call that is cut short.
type Answer struct {
	Suggestion string // its id; "" = the one that is open
	Action     string // an action's id or kind, for example "a1" or "retry"
	Model      string // for switch_model: overrides the action's model
}

// Run runs a prompt to its end and gives the answer's text. Of an answer that was cut at the
// output limit it gives what there is, and ErrTruncated.
func (r *Runner) Run(ctx context.Context, prompt string) (string, error) {
	run, err := r.Start(ctx, Request{Prompt: prompt})
	if err != nil {
		return "", err
	}
	result, err := run.Wait()
	if err == nil && result.Truncated {
		err = ErrTruncated
	}
	return result.Text, err
}

// Stream runs a prompt and yields what happens; the error, if any, comes last and
// is the one that Wait gives. Breaking off cancels the run.
func (r *Runner) Stream(ctx context.Context, prompt string) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		run, err := r.Start(ctx, Request{Prompt: prompt})
		if err != nil {
			yield(Event{}, err)
			return
		}
		for event, err := range run.Events() {
			if !yield(event, err) || err != nil {
				cancel()
				<-run.done
				return
			}
		}
		if _, err := run.Wait(); err != nil {
			yield(Event{}, err)
		}
	}
}

// Start begins a run. When it returns without an error the run is durable, and it goes on
// until it settles or ctx ends, which cancels it; with the cause ErrLetGo it is only let
// go of. A run of a session fails to start with ErrSessionBusy while the one before it
// goes on, and closes the suggestion that is open there.
func (r *Runner) Start(ctx context.Context, req Request) (*Run, error) {
	if req.ID != "" {
		unlock := r.beginning.lock(req.ID)
		defer unlock()
		if err := r.vacant(ctx, req.ID); err != nil {
			return nil, fmt.Errorf("start run: %w", err)
		}
	}
	start := r.startAlone
	if req.Session != "" {
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

// startAlone begins a run that is of no session.
func (r *Runner) startAlone(ctx context.Context, req Request) (*Run, error) {
	started, err := r.started(ctx, req)
	if err != nil {
		return nil, err
	}
	return r.begin(ctx, cmp.Or(req.ID, newID()), started, nil)
}

// begin begins a run that continues before, nil for none.
func (r *Runner) begin(ctx context.Context, id string, started recovery.Started, before *folded) (*Run, error) {
	l := r.newLoop(&recovery.Run{}, id, timeline.Lease{})
	l.unlock = sync.OnceFunc(r.claiming.lock(id))
	if before != nil {
		l.before, l.behind = before.Conversation(), before.behind+1
	}
	return l.launchAfter(ctx, l.open(ctx, started))
}

func (r *Runner) started(ctx context.Context, req Request) (recovery.Started, error) {
	input := req.Messages
	if req.Prompt != "" {
		input = append(slices.Clone(input), llm.User(req.Prompt))
	}
	if len(input) == 0 {
		return recovery.Started{}, errors.New("there is no prompt")
	}
	s := recovery.Started{
		Model: cmp.Or(req.Model, r.model), System: cmp.Or(req.System, r.system),
		Input: input, Policy: r.policy, Session: req.Session, Fingerprint: req.Fingerprint,
	}
	if req.Policy != nil {
		s.Policy = *req.Policy
		s.Policy.DayBudget = r.policy.DayBudget // it is not one run's to lift
	}
	if req.AutoRecover != nil {
		s.Policy.AutoRecover = *req.AutoRecover
	}
	if s.Model == "" {
		return recovery.Started{}, errors.New("no model is chosen; use WithModel or Request.Model")
	}
	if _, err := r.models.Model(s.Model); err != nil {
		return recovery.Started{}, err
	}
	if !slices.Contains(s.Policy.Models, s.Model) {
		s.Policy.Models = append([]string{s.Model}, s.Policy.Models...) // a run may come back to what it began with
	}
	if err := r.pinTimeouts(&s.Policy, s.Model, req.Timeouts); err != nil {
		return recovery.Started{}, err
	}
	if unpriced := s.Policy.Unpriced(s.Model); len(unpriced) > 0 {
		return recovery.Started{}, fmt.Errorf("there is a budget of money, and no price of %s: put it in Policy.Prices", strings.Join(unpriced, ", "))
	}
	if deadline, ok := ctx.Deadline(); ok {
		s.WaitsUntil = deadline.UTC().Round(0)
	}
	s.Policy.Plugins = nil
	for _, h := range r.hooks() {
		if !h.Shadow {
			s.Policy.Plugins = append(s.Policy.Plugins, h.Name)
		}
	}
	if s.Policy.AutoRecover && len(s.Policy.Plugins) == 0 {
		r.unadvised.Do(r.warnUnadvised)
	}
	tools := r.tools()
	if err := r.check(tools); err != nil {
		return recovery.Started{}, err
	}
	for _, t := range tools {
		if t.isFor(s.Model) {
			s.Tools = append(s.Tools, t.decl())
		}
	}
	r.hideStarted(&s)
	return s, nil
}

// warnUnadvised says that nothing is repeated by itself where nobody says what to repeat. It
// is a mistake in the program, so that it is also said where no logger was given.
func (r *Runner) warnUnadvised() {
	logger := r.logger
	if !logger.Enabled(context.Background(), slog.LevelWarn) {
		logger = slog.Default()
	}
	logger.Warn("a run recovers by itself, and no hook says how: nothing will be repeated; add one, such as autorecover.Hook(), by runner.WithHook")
}

// pinTimeouts resolves the timers of a run of that model under what is set for it.
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
	for _, t := range append(slices.Collect(maps.Values(p.ModelTimeouts)), p.Timeouts) {
		if err := t.Settings().CheckFrom(0); err != nil { // as short as the policy's maker likes
			return fmt.Errorf("timeouts: %w", err)
		}
	}
	return nil
}

// Resume claims a run that nobody drives and goes on with it. A run that has settled stays
// as it is: Wait gives its outcome at once; but a suggestion whose time is over ends it.
// One that this Runner drives is given as it goes on. It fails with timeline.ErrOwned while
// another living process drives the run, and with timeline.ErrNotFound for an unknown one.
func (r *Runner) Resume(ctx context.Context, id string) (*Run, error) {
	run, _, err := r.resume(ctx, id)
	return run, err
}

// resume is Resume; on says whether the run goes on, and had not settled before.
func (r *Runner) resume(ctx context.Context, id string) (run *Run, on bool, err error) {
	if run, ok := r.drives(id); ok {
		return run, true, nil
	}
	l, err := r.claim(ctx, id)
	if err != nil {
		return nil, false, err
	}
	var bodies []recovery.Body
	asked, err := l.pending(ctx)
	if err != nil {
		l.release()
		return nil, false, fmt.Errorf("resume run %s: %w", id, err)
	}
	switch expiry, over := l.expiry(); {
	case over:
		bodies = append(bodies, expiry)
	case l.run.Settled() && !asked:
		return l.settled(ctx), false, nil
	}
	run, err = l.goOn(ctx, bodies...)
	if err != nil {
		return nil, false, fmt.Errorf("resume run %s: %w", id, err)
	}
	return run, true, nil
}

// Recover answers a run's suggestion and goes on with the run here. The errors of
// recovery.Run.Accept say why an answer does not count. A run that is being driven (a live
// wait, or a call that is cut short) gets the answer through its inbox, and Recover returns
// once its owner has written what became of it; where another process drives it, the error
// is ErrSent, also if that does not answer within 3 s.
func (r *Runner) Recover(ctx context.Context, id string, a Answer) (*Run, error) {
	l, err := r.claim(ctx, id)
	if errors.Is(err, timeline.ErrOwned) {
		return r.recoverOwned(ctx, id, a)
	}
	if err != nil {
		return nil, err
	}
	accepted, err := l.run.Accept(a.Suggestion, a.Action, a.Model, r.now())
	if err != nil {
		l.release()
		return nil, err
	}
	run, err := l.goOn(ctx, l.run.Answering(accepted, r.now())...)
	if err != nil {
		return nil, fmt.Errorf("recover run %s: %w", id, err)
	}
	return run, nil
}

// drives finds a run that this Runner drives.
func (r *Runner) drives(id string) (*Run, bool) {
	v, _ := r.driven.Load(id)
	run, ok := v.(*Run)
	return run, ok
}

// Cancel ends a run, whoever drives it. Without an error the run has ended; or another
// process drives it and was told, as ErrSent says, and ends it within 2 s.
func (r *Runner) Cancel(ctx context.Context, id string) error {
	for {
		if run, ok := r.drives(id); ok {
			run.Cancel()
			if over, err := ended(run); over || err != nil {
				return err
			}
			continue // it had settled before it heard of that
		}
		l, err := r.claim(ctx, id)
		if _, here := r.drives(id); here && errors.Is(err, timeline.ErrOwned) {
			continue
		}
		switch {
		case errors.Is(err, timeline.ErrOwned):
			return r.cancelOwned(ctx, id)
		case err != nil:
			return err
		case l.run.End != nil:
			l.release()
			return nil
		}
		run, err := l.goOn(ctx, recovery.CancelRequested{})
		if err != nil {
			return fmt.Errorf("cancel run %s: %w", id, err)
		}
		_, err = ended(run)
		return err
	}
}

// Drain waits until nothing of this Runner's runs is going on: neither runs that are
// driven, nor tools that are still ending after their runs have.
func (r *Runner) Drain(ctx context.Context) error {
	select {
	case <-r.busy.idle():
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Policy gives a copy of what runs start with, for a Request to change.
func (r *Runner) Policy() recovery.Policy {
	p := r.policy
	p.Models, p.Plugins = slices.Clone(p.Models), slices.Clone(p.Plugins)
	p.Prices, p.ModelTimeouts = maps.Clone(p.Prices), maps.Clone(p.ModelTimeouts)
	return p
}

// claim folds a run and becomes its owner; a settled run is released again when
// its loop is not launched. Until one or the other nobody else here claims it: the log
// would let them, since they are the same owner.
func (r *Runner) claim(ctx context.Context, id string) (_ *loop, err error) {
	unlock := sync.OnceFunc(r.claiming.lock(id))
	defer func() {
		if err != nil {
			unlock()
		}
	}()
	if _, ok := r.drives(id); ok {
		return nil, fmt.Errorf("run %s is driven here: %w", id, timeline.ErrOwned)
	}
	var lease timeline.Lease
	err = r.insist(ctx, func() (err error) {
		if _, err = r.log.Read(ctx, id, 0, 1); err == nil {
			lease, err = r.log.Claim(ctx, id, r.owner, r.leaseTTL)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", id, err)
	}
	var run *folded
	err = r.insist(ctx, func() (err error) {
		run, err = r.fold(ctx, id)
		return err
	})
	if err != nil {
		return nil, errors.Join(err, r.log.Release(context.WithoutCancel(ctx), lease))
	}
	l := r.newLoop(run.Run, id, lease)
	l.saved, l.behind, l.unlock = run.saved, run.behind, unlock
	return l, nil
}

func newID() string { return "r" + strings.ToLower(ulid.Make().String()) }
