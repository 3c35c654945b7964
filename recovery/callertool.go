package recovery

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/llm"
)

// ByCaller marks a tool that the program which started the run carries out, and its calls. Such a
// call is durable before anybody can see it, and its result comes as a command. It remains valid
// when another process takes the run over.
const ByCaller = "caller"

// How long a caller may take for a call.
const (
	callerToolTime = failure.Millis(10 * 60 * 1000)      // if neither its tool nor the policy says
	MaxCallerTime  = failure.Millis(24 * 60 * 60 * 1000) // at the most
)

// Why the result of a tool call does not count.
var (
	// ErrNoSuchCall: the run has not asked its caller for that call (HTTP 404).
	ErrNoSuchCall = errors.New("the program that started the run was not asked for such a tool call")
	// ErrSameResult: the call already has that result; the caller may treat it as accepted.
	ErrSameResult = errors.New("the call already has this result")
	// ErrOtherResult: the call already has another result (HTTP 409).
	ErrOtherResult = errors.New("the call already has another result")
	// ErrCallOver: nobody waits for the result any more (HTTP 410).
	ErrCallOver = errors.New("the run no longer waits for this result")
)

// AwaitedCall is a tool call that the run's caller is asked to carry out.
type AwaitedCall struct {
	ID    string          `json:"id"` // names the call in its result
	Name  string          `json:"name"`
	Args  json.RawMessage `json:"args"` // a JSON object that matches the tool's schema
	Key   string          `json:"key"`  // the same every time this call is asked for, and different from any other call's
	Try   int             `json:"try,omitempty"`
	Since time.Time       `json:"since"`
	Until time.Time       `json:"until"` // when it is given up
}

// Awaited are the calls that r's caller is asked to carry out, in the answer's order. There are
// none once the run has ended or was stopped.
func (r *Run) Awaited() []AwaitedCall {
	if r.End != nil || r.cancelled {
		return nil
	}
	var list []AwaitedCall
	for _, t := range r.Pending {
		if t.asked() {
			list = append(list, AwaitedCall{
				ID: t.Call.ID, Name: t.Call.Name, Args: t.Call.Args, Key: r.keyOf(t), Try: max(0, t.Tries-1), Since: t.BeganAt, Until: t.Until,
			})
		}
	}
	return list
}

// asked reports whether the caller is asked for the call and has not given its result.
func (t *ToolRun) asked() bool { return t.By == ByCaller && t.State == ToolCallInAir }

// Return makes the event of a result that r's caller gives for a call, or says why the call cannot
// have it. It makes no difference whether a process drives the run.
func (r *Run) Return(callID, text string, isError bool) (ToolReturned, error) {
	result := llm.ToolResult{CallID: callID, Text: text, IsError: isError}
	i := slices.IndexFunc(r.Pending, func(t *ToolRun) bool { return t.Call.ID == callID })
	if i < 0 {
		return ToolReturned{}, r.returned(result)
	}
	t := r.Pending[i]
	result.Name = t.Call.Name
	switch {
	case t.By != ByCaller:
		return ToolReturned{}, fmt.Errorf("%w: %s is a call of %s, which is not a tool of yours", ErrNoSuchCall, callID, t.Call.Name)
	case t.State.Over():
		return ToolReturned{}, r.returned(result)
	case r.End != nil || r.cancelled:
		return ToolReturned{}, fmt.Errorf("%w: the run is over (%s)", ErrCallOver, r.Status)
	case !t.asked():
		return ToolReturned{}, fmt.Errorf("%w yet: wait until the run waits for it", ErrNoSuchCall)
	}
	b := ToolReturned{CallID: callID, Result: result, Outcome: OutcomeOK, Round: r.Rounds}
	if isError {
		b.Outcome = OutcomeError
	}
	return b, nil
}

// Take completes a result that Return made and that arrives at the given time, or says that nobody
// waits for it any more.
func (r *Run) Take(b ToolReturned, at time.Time) (ToolReturned, error) {
	t := r.tool(b.CallID)
	if r.End != nil || r.cancelled || t == nil || !t.asked() || b.Round != r.Rounds {
		return ToolReturned{}, ErrCallOver
	}
	b.Elapsed = failure.InMillis(nonNegative(at.Sub(t.BeganAt)))
	return b, nil
}

// returned says why the result of a call that is not waited for is refused.
func (r *Run) returned(given llm.ToolResult) error {
	for _, m := range slices.Backward(r.Messages[r.Carried:]) {
		for _, p := range m.Parts {
			if p.Result == nil || p.Result.CallID != given.CallID || !r.isCallers(p.Result.Name) {
				continue
			}
			switch {
			case p.Result.Text == given.Text && p.Result.IsError == given.IsError:
				return ErrSameResult
			case strings.HasSuffix(p.Result.Text, unanswered):
				return fmt.Errorf("%w: it came after the time for %s was over; give the tool a longer timeoutMs", ErrCallOver, p.Result.Name)
			}
			return ErrOtherResult
		}
	}
	if calls := r.Awaited(); len(calls) > 0 {
		return fmt.Errorf("%w: it waits for %s", ErrNoSuchCall, namesOf(calls))
	}
	if r.End != nil {
		return fmt.Errorf("%w: the run is over (%s)", ErrCallOver, r.Status)
	}
	return ErrNoSuchCall
}

func namesOf(calls []AwaitedCall) string {
	const most = 4
	var names []string
	for i, c := range calls {
		if i == most {
			names = append(names, fmt.Sprintf("%d more", len(calls)-i))
			break
		}
		names = append(names, words.Clip(c.ID, 64)+" ("+c.Name+")")
	}
	return strings.Join(names, ", ")
}

// isCallers reports whether the tool of that name is one that the run's caller carries out.
func (r *Run) isCallers(name string) bool { return r.declared(name).By == ByCaller }

// callerLimit is how long the caller may take for a call of that tool. There is always a limit.
func (r *Run) callerLimit(name string) failure.Millis {
	limit := r.Policy.Timeouts.Tool
	if own := r.declared(name).Timeout; own > 0 {
		limit = own
	}
	if limit <= 0 {
		limit = callerToolTime
	}
	return min(limit, MaxCallerTime)
}

// askCaller writes the intent of the first call that is the caller's and has not been asked for
// yet.
func (r *Run) askCaller() []Effect {
	for _, t := range r.Pending {
		if t.By != ByCaller || t.State != ToolCallWanted || t.Approval == approvalWanted {
			continue
		}
		if over := r.overdue(r.clocks()); over != nil {
			return over
		}
		if broke := r.outOfBudget(); broke != nil && !r.toolsInAir() {
			return broke
		}
		return record(r, r.toolIntent(t, t.Tries))
	}
	return nil
}

// awaitCaller waits for the calls that the caller was asked for, when nothing else is going on; nil
// if there are none.
func (r *Run) awaitCaller() []Effect {
	timers := r.callerTimers()
	if len(timers) == 0 {
		return nil
	}
	if !r.awaitsCaller() {
		return record(r, Waiting{For: WaitTool, Model: r.Model, Until: r.awaitsUntil()})
	}
	return r.timed(timers...)
}

// awaitsCaller reports whether r is only waiting for its caller.
func (r *Run) awaitsCaller() bool { return r.Wait != nil && r.Wait.For == WaitTool }

// awaitsUntil is when r goes on at the latest, whatever its caller does.
func (r *Run) awaitsUntil() time.Time {
	var until time.Time
	if r.Policy.Timeouts.Run > 0 {
		until = r.deadline()
	}
	for _, c := range r.Awaited() {
		if until.IsZero() || c.Until.Before(until) {
			until = c.Until
		}
	}
	return until
}

// callerTimers give up the calls for which the caller gives no result.
func (r *Run) callerTimers() []Effect {
	var effects []Effect
	for _, t := range r.Pending {
		if t.asked() {
			timer := SetTimer{At: t.Until, Write: r.givenUp(t)}
			effects = append(effects, Effect{Key: timerKey(timer), Timer: &timer})
		}
	}
	return effects
}

// unanswered ends the text that the model reads about a call that was given up.
const unanswered = "Go on without it, or ask the user."

// givenUp is the end of a call whose caller gave no result in time. The outcome of a call that may
// not be repeated is unknown.
func (r *Run) givenUp(t *ToolRun) ToolReturned {
	limit := r.callerLimit(t.Call.Name)
	outcome, so := OutcomeUnknown, " It may or may not have taken effect."
	if t.Safety.Repeatable() {
		outcome, so = OutcomeError, ""
	}
	return ToolReturned{
		CallID: t.Call.ID, Outcome: outcome, Elapsed: limit, Limit: limit,
		Result: llm.ToolResult{
			CallID: t.Call.ID, Name: t.Call.Name, IsError: true,
			Text: "The program that runs " + t.Call.Name + " gave no result within " + words.Duration(limit.Duration()) + "." + so + " " + unanswered,
		},
	}
}

// awaitedLine says what the run waits for: "Waiting for the program that runs get_weather".
func (r *Run) awaitedLine() string {
	var names []string
	for _, c := range r.Awaited() {
		if !slices.Contains(names, c.Name) {
			names = append(names, c.Name)
		}
	}
	const most = 3
	if len(names) > most {
		names = append(names[:most:most], fmt.Sprintf("%d more", len(names)-most))
	}
	return "Waiting for the program that runs " + cmp.Or(strings.Join(names, ", "), "a tool")
}

// awaitedStages are those of a run that waits for its caller.
func (r *Run) awaitedStages() []Stage {
	since, line := r.Last, r.awaitedLine()+"…"
	if calls := r.Awaited(); len(calls) > 0 {
		since = calls[0].Since
	}
	return []Stage{
		{From: since, State: StateCaller, Line: line, Since: since, Until: r.Wait.Until},
		{From: since.Add(thinkingAfter), State: StateCaller, Line: line + " {elapsed}", Since: since, Until: r.Wait.Until, Stop: true},
	}
}
