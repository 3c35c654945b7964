package advice

import (
	"context"
	"slices"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/recovery"
)

// Runs is what advice needs of the core; *runner.Runner is one.
type Runs interface {
	// Advise says what to do about a failed call.
	Advise(ctx context.Context, q recovery.Question) (*recovery.Run, error)
	// Settle ends a call that was asked about.
	Settle(ctx context.Context, r recovery.Report) (*recovery.Run, error)
}

// Desk answers questions. It is safe for concurrent use.
type Desk struct {
	Runs     Runs
	Classify failure.Classifier
}

// Decide answers a caller's question. Two callers may use the same name for different calls. A
// *FieldError says what is wrong with the question; any other error is the core's.
func (d *Desk) Decide(ctx context.Context, caller string, q Question) (Reply, error) {
	if err := q.check(); err != nil {
		return Reply{}, err
	}
	asked := recovery.Question{
		Call: caller + "/" + q.Call, Attempt: q.Attempt, Model: q.Model, Evidence: d.evidence(&q), Alternatives: q.Alternatives, AutoRecover: q.AutoRecover,
		Shown: q.PartialShown, SessionKey: q.SessionKey, AgentID: q.AgentID, Said: q.LastAssistant,
		Told: recovery.Told{ToolsRan: q.Tools.Ran, UnsafeTools: q.Tools.Unsafe, Aborted: q.Aborted, TimedOut: q.TimedOut},
	}
	if asked.SessionKey == "" {
		asked.SessionKey = q.Session
	}
	if q.Budget != nil {
		asked.Budget = *q.Budget
	}
	for _, t := range q.Tried {
		asked.Tried = append(asked.Tried, t.call())
	}
	run, err := d.Runs.Advise(ctx, asked)
	if err != nil {
		return Reply{}, err
	}
	return replyOf(run), nil
}

// call is t in the core's form.
func (t *TriedCall) call() recovery.TriedCall {
	kind := t.Kind
	if kind == "" {
		kind = kindOf(t.Code)
	}
	f := failure.NewFailure(kind, failure.OriginModel, failure.PhaseBeforeFirstEvent, nil)
	return recovery.TriedCall{Model: t.Model, Failure: *f, At: t.At.UTC(), Duration: t.Millis}
}

// kindOf is the first kind that has the code.
func kindOf(code failure.Code) failure.Kind {
	kinds := failure.Kinds()
	if i := slices.IndexFunc(kinds, func(k failure.Kind) bool { return k.Code() == code }); i >= 0 {
		return kinds[i]
	}
	return failure.KindUnknown
}

// Close records how a caller's call went on.
func (d *Desk) Close(ctx context.Context, caller string, o Outcome) (Closed, error) {
	if err := o.check(); err != nil {
		return Closed{}, err
	}
	report := recovery.Report{Call: caller + "/" + o.Call, Model: o.Model}
	switch {
	case o.OK:
	case o.Failure == nil:
		report.Evidence = &failure.Evidence{}
	default:
		seen := o.Failure.asSeen()
		report.Evidence = &seen
	}
	run, err := d.Runs.Settle(ctx, report)
	if err != nil {
		return Closed{}, err
	}
	return Closed{Run: run.ID, Status: run.Status}, nil
}
