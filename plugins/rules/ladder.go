package rules

import (
	"cmp"
	"slices"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/recovery"
)

// rung is what would be decided about one failed attempt.
type rung struct {
	Attempt int
	Model   string // the one that failed
	Outcome outcome
	Blocked string // the limit because of which it is only offered to a person, or ""
}

// ladder simulates a model call whose every attempt fails like the first, until
// nothing more is tried: a rule fails, none decides, or a limit of the run is reached.
// There is no jitter.
func (rs *Rules) ladder(first *Facts) []rung {
	f := *first
	f.Alternatives, f.Tried = slices.Clone(f.Alternatives), slices.Clone(f.Tried)
	var rungs []rung
	for {
		o := rs.decide(&f, 0)
		rung := rung{f.Attempt, f.Model, o, f.blocked(o.Vote)}
		rungs = append(rungs, rung)
		if rung.Blocked != "" || !f.advance(o.Vote) {
			return rungs
		}
	}
}

// blocked names the runner's limit that keeps a decision from being carried out
// automatically, as far as an example can reach it (see recovery.Decide); "" if none.
func (f *Facts) blocked(v recovery.Vote) string {
	kind := failure.Kind(f.Failure.Kind)
	acts := v.Action == recovery.ActionRetry || v.Action == recovery.ActionSwitchModel
	switch {
	case acts && over(kind):
		return string(kind)
	case v.Action != recovery.ActionRetry || !f.AutoRecover:
		return ""
	case f.Retries >= f.MaxRetries:
		return "max_retries"
	case kind.Once() && f.Attempt > 0:
		return "not_retryable"
	case !f.Failure.Retryable && v.Adjust == recovery.Adjust{} && f.Failure.ResetsAt.IsZero() && kind != failure.KindToolFailure:
		return "not_retryable"
	}
	return ""
}

// over reports whether a failure of that kind means that the run may do no more.
func over(kind failure.Kind) bool {
	switch kind {
	case failure.KindMaxTurnTime, failure.KindRunTimeout, failure.KindBudget, failure.KindRoundLimit:
		return true
	}
	return false
}

// advance makes f the next failure after a decision was carried out; false if there is
// none.
func (f *Facts) advance(v recovery.Vote) bool {
	switch v.Action {
	case recovery.ActionRetry:
		f.Retries++
	case recovery.ActionSwitchModel:
		f.Model, f.Failure.Model, f.Failure.Provider = v.NewModel, v.NewModel, providerOf(v.NewModel)
	default:
		return false
	}
	f.Attempt++
	f.Remaining.Attempts--
	f.Tried = append(f.Tried, Tried{Model: f.Model, Code: f.Failure.Code})
	return f.Attempt < recovery.MaxAttemptsPerCall
}

// Example is a failure in an ordinary run: recovery is automatic and nothing is
// limited.
type Example struct {
	Kind         failure.Kind
	Model        string    // of every failed attempt; "" = example/model
	Attempt      int       // from 0
	At           time.Time // when it fails
	Alternatives []string  // nil = the models that the rules name, or else another/model
}

// Facts are the facts of an example.
func (rs *Rules) Facts(x Example) *Facts {
	f := blankFacts()
	f.Failure.At = x.At
	f.Failure.Kind, f.Attempt, f.Model = string(x.Kind), x.Attempt, cmp.Or(x.Model, "example/model")
	models := x.Alternatives
	if models == nil {
		models = rs.named()
	}
	for _, model := range models {
		if model != f.Model {
			f.Alternatives = append(f.Alternatives, Alternative{Model: model})
		}
	}
	f.assume()
	rs.assumeCounts(f)
	return f
}

// assumeCounts sets every missing counter to this one failure.
func (rs *Rules) assumeCounts(f *Facts) {
	for _, c := range rs.counters {
		if _, said := f.Counts[c.name]; !said {
			f.Counts[c.name] = 1
		}
	}
}

// blankFacts are the facts of a run without limits; unknown numbers are negative.
func blankFacts() *Facts {
	f := &Facts{AutoRecover: true, MaxRetries: recovery.DefaultPolicy().MaxRetries, Retries: -1, Remaining: unlimited}
	f.Remaining.Attempts = -1
	return f
}

// assume fills in what an event does not say.
func (f *Facts) assume() {
	kind := failure.Kind(f.Failure.Kind)
	if f.Failure.Code == "" {
		f.Failure.Code, f.Failure.Retryable = string(kind.Code()), kind.Retryable()
	}
	if f.Failure.Model == "" {
		f.Failure.Model = f.Model
	}
	if f.Failure.Provider == "" {
		f.Failure.Provider = providerOf(f.Failure.Model)
	}
	if f.Failure.Origin == "" {
		f.Failure.Origin = string(failure.OriginModel)
	}
	if f.Failure.Phase == "" {
		f.Failure.Phase = string(failure.PhaseBeforeFirstEvent)
	}
	if f.ReplaySafety == "" {
		f.ReplaySafety = "safe"
	}
	if f.Retries < 0 {
		f.Retries = f.Attempt
	}
	if f.Remaining.Attempts < 0 {
		f.Remaining.Attempts = max(0, recovery.MaxAttemptsPerCall-1-f.Attempt)
	}
	if f.Tried == nil {
		f.Tried = slices.Repeat([]Tried{{Model: f.Model, Code: f.Failure.Code}}, f.Attempt+1)
	}
	f.complete()
}

// named are the models that the rules name.
func (rs *Rules) named() []string {
	var list []string
	for _, r := range rs.Rules {
		s, _ := r.action.(switchAction)
		for _, model := range s.to {
			if !slices.Contains(list, model) {
				list = append(list, model)
			}
		}
	}
	if list == nil {
		return []string{"another/model"}
	}
	return list
}
