package recovery

import (
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/failure"
)

// TestTheLastRoundBegins: if the retries of a call are used up and its patience is not, the call
// waits until shortly before the patience ends and asks each model once more; in every other case
// it is blocked as usual.
func TestTheLastRoundBegins(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Run)
		after  failure.Millis // how long the round is waited for; 0 = there is none
	}{
		"at once":                               {func(*Run) {}, 25_000},
		"7 s after the first failure":           {func(r *Run) { r.Call.FailedAt = r.Open.At.Add(-7 * time.Second) }, 18_000},
		"the attempts are spent":                {func(r *Run) { r.Call.Attempts = MaxAttemptsPerCall }, 25_000},
		"a short patience":                      {func(r *Run) { r.Policy.Timeouts.Patience = 8_000 }, 6_000},
		"a deadline":                            {func(r *Run) { r.WaitsUntil = r.Open.At.Add(12 * time.Second) }, 9_000},
		"a deadline after the patience":         {func(r *Run) { r.WaitsUntil = r.Open.At.Add(time.Hour) }, 25_000},
		"a deadline that is over":               {func(r *Run) { r.WaitsUntil = r.Open.At.Add(-time.Second) }, 0},
		"the patience is over":                  {func(r *Run) { r.Call.FailedAt = r.Open.At.Add(-26 * time.Second) }, 0},
		"the provider asks for time in between": {func(r *Run) { r.Open.Failure.RetryAfter = 28_000 }, 28_000},
		"the provider asks for more time":       {func(r *Run) { r.Open.Failure.RetryAfter = 31_000 }, 0},
		"more than is left, less than it was":   {func(r *Run) { r.Call.FailedAt, r.Open.Failure.RetryAfter = r.Open.At.Add(-7*time.Second), 29_000 }, 0},
		"patience is off":                       {func(r *Run) { r.Policy.Timeouts.Patience = 0 }, 0},
		"retries are off":                       {func(r *Run) { r.Policy.MaxRetries = 0 }, 0},
		"nothing is done by itself":             {func(r *Run) { r.Policy.AutoRecover, r.Call.Attempts = false, MaxAttemptsPerCall }, 0},
		"it does not pass": {func(r *Run) {
			r.Open.Failure = *failure.NewFailure(failure.KindContentFilter, failure.OriginModel, failure.PhaseMidStream, nil)
		}, 0},
		"the run has failed too often":            {func(r *Run) { r.FailedAttempts = MaxFailedAttempts }, 0},
		"the turn is over before":                 {func(r *Run) { r.Policy.Timeouts.MaxTurn = 10_000 }, 0},
		"a plugin's pause is longer than is left": {func(r *Run) { r.Open.Votes[0].Delay = 40_000 }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := openRun(overloaded(), Vote{Plugin: "p", Action: ActionRetry})
			r.Call.Attempts, r.Call.Retries, r.Call.FailedAt = 4, r.Policy.MaxRetries, r.Open.At
			c.change(r)
			d := Decide(r)
			if d.LastRound != (c.after > 0) || (d.BlockedBy == "") != (c.after > 0) || c.after > 0 && d.Delay != c.after {
				t.Errorf("%+v", d)
			}
		})
	}
}

// TestTheLastRoundAsksEachOnce: the models that failed are asked in the order in which they failed,
// whatever a plugin says, and then the call has had all its attempts.
func TestTheLastRoundAsksEachOnce(t *testing.T) {
	r := openRun(overloaded(), Vote{Plugin: "p", Action: ActionRetry})
	code := r.Open.Failure.Code
	r.Open.Alternatives = []Alternative{{Model: "b/two"}}
	r.Call.Attempts, r.Call.FailedAt, r.Call.LastRound, r.Call.RoundFrom = 7, r.Open.At.Add(-26*time.Second), true, 2
	r.Call.Tried = []Tried{{Model: "b/two", Code: code}, {Model: r.Model, Code: code}, {Model: r.Model, Code: code}}
	if d := Decide(r); d.Action != ActionSwitchModel || d.NewModel != "b/two" || d.BlockedBy != "" || d.Delay != MinDelay {
		t.Errorf("%+v", d)
	}
	r.Call.Tried = append(r.Call.Tried, Tried{Model: "b/two", Code: code})
	if d := Decide(r); d.BlockedBy != "max_attempts" {
		t.Errorf("%+v", d)
	}
	r.Open.Failure = *failure.NewFailure(failure.KindMalformedResponse, failure.OriginModel, failure.PhaseMidStream, nil)
	r.Open.Failure.Code = failure.CodeRequestInvalid // it does not pass, and is retried no more often than it was
	r.Call.Retries = r.Policy.MaxRetries
	if d := Decide(r); d.BlockedBy != "max_retries" {
		t.Errorf("%+v", d)
	}
}

// TestBackoffAcrossSwitches: a switch to a model that failed in the call waits like a retry.
func TestBackoffAcrossSwitches(t *testing.T) {
	for failures, want := range []failure.Millis{0, 1000, 2000, 4000, 4000} {
		r := openRun(overloaded(), Vote{Plugin: "p", Action: ActionSwitchModel, NewModel: "b/two"})
		for range failures {
			r.Call.Tried = append(r.Call.Tried, Tried{Model: "b/two"})
		}
		if d := Decide(r); d.Delay != want {
			t.Errorf("after %d failures: %d ms", failures, d.Delay)
		}
		if r.Policy.AutoRecover = false; Decide(r).Delay != 0 {
			t.Errorf("after %d failures, a suggestion waits", failures)
		}
	}
}

// TestAttemptsLeft: a plugin is told how many attempts the limits still allow; in the last round
// that is the number of models that were not asked in it.
func TestAttemptsLeft(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Run)
		want   int
	}{
		"after the first":                {func(*Run) {}, 5},
		"all are spent":                  {func(r *Run) { r.Call.Attempts = MaxAttemptsPerCall }, 0},
		"a person added one":             {func(r *Run) { r.Call.Attempts, r.Call.Granted = MaxAttemptsPerCall, 1 }, 1},
		"the run has failed often":       {func(r *Run) { r.FailedAttempts = MaxFailedAttempts - 2 }, 2},
		"the run has failed too often":   {func(r *Run) { r.FailedAttempts = MaxFailedAttempts + 1 }, 0},
		"a round begins":                 {func(r *Run) { r.Call.Attempts, r.Call.LastRound, r.Call.RoundFrom = 6, true, 6 }, 2},
		"its first model has failed":     {func(r *Run) { intoRound(r, 6, r.Model) }, 1},
		"both have":                      {func(r *Run) { intoRound(r, 4, r.Model, "b/two") }, 0},
		"one is not to be had":           {func(r *Run) { intoRound(r, 4); r.Open.Alternatives = r.Open.Alternatives[:1] }, 1},
		"what failed now does not pass":  {func(r *Run) { intoRound(r, 6, r.Model); r.Open.Failure.Retryable = false }, 1},
		"nor does it, with much to have": {func(r *Run) { intoRound(r, 2, r.Model, "b/two"); r.Open.Failure.Retryable = false }, 4},
	} {
		t.Run(name, func(t *testing.T) {
			r := openRun(overloaded())
			r.Open.Alternatives = []Alternative{{Model: r.Model}, {Model: "b/two"}}
			c.change(r)
			if got := r.AttemptsLeft(); got != c.want {
				t.Errorf("%d, not %d", got, c.want)
			}
		})
	}
}

// intoRound puts r into the last round of its call, after so many attempts before it.
func intoRound(r *Run, before int, asked ...string) {
	r.Call.Tried = make([]Tried, before)
	for _, model := range asked {
		r.Call.Tried = append(r.Call.Tried, Tried{Model: model, Code: r.Open.Failure.Code})
	}
	r.Call.Attempts, r.Call.LastRound, r.Call.RoundFrom = len(r.Call.Tried), true, before
}

// TestOnlyARetryIsCounted: a wait says "attempt n/m" if a counted retry follows, and not before a
// switch, while waiting for the network, or if a person asked for more.
func TestOnlyARetryIsCounted(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Run)
		n, of  int
	}{
		"a retry":              {func(*Run) {}, 2, 3},
		"a switch":             {func(r *Run) { r.Open.Decision.Action, r.Open.Decision.NewModel = ActionSwitchModel, "b/two" }, 0, 0},
		"no retries":           {func(r *Run) { r.Policy.MaxRetries = 0 }, 0, 0},
		"one more than are":    {func(r *Run) { r.Call.Retries = 3 }, 0, 0},
		"there is no network":  {func(r *Run) { r.Open.Offline = true }, 0, 0},
		"a switch, no retries": {func(r *Run) { r.Open.Decision.Action, r.Policy.MaxRetries = ActionSwitchModel, 0 }, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := openRun(overloaded())
			r.Open.Decision, r.Call.Retries = &Decision{Action: ActionRetry, Delay: 1000}, 1
			c.change(r)
			if w := r.waiting(); w.Retry != c.n || w.Of != c.of {
				t.Errorf("%d/%d, not %d/%d", w.Retry, w.Of, c.n, c.of)
			}
		})
	}
}
