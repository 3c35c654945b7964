package recovery

import "github.com/mulligan-run/mulligan/failure"

// Every way to another model call goes through permit: the next round, a retry, a switch, a
// person's choice, the round after a tool's failure, and the summary of a conversation that became
// too long.

// permit gives what follows if a limit or a plugin forbids another call of model with that
// reservation; nil if the call may be made.
func (r *Run) permit(model string, reserve Budget) []Effect {
	if part := r.Policy.Budget.Lacks(r.Spent, reserve); part != "" {
		return r.overBudget(part, reserve)
	}
	if r.roundsOver() {
		f := r.failure(failure.KindRoundLimit, failure.OriginRunner, failure.PhasePrompt)
		f.Describe(failure.Words{Rounds: r.Rounds})
		return record(r, Failed{Failure: f, Cause: CauseRounds})
	}
	if r.showed() || r.tooMany() != "" {
		return r.fail()
	}
	return r.refuse(model)
}

// tooMany names the limit on attempts that forbids another one; "" if none does. Each answer of a
// person adds one attempt.
func (r *Run) tooMany() string {
	switch {
	case r.Call.Attempts >= r.maxAttempts():
		return blockedAttempts
	case r.FailedAttempts >= MaxFailedAttempts+r.Granted:
		return blockedFailures
	}
	return ""
}

// AttemptsLeft is how many more attempts the current model call may have, whoever asks for them. In
// its last round each model is asked once more, so models already asked in that round are not
// counted.
func (r *Run) AttemptsLeft() int {
	left := min(r.maxAttempts()-r.Call.Attempts, MaxFailedAttempts+r.Granted-r.FailedAttempts)
	if o := r.Open; o != nil && r.Call.LastRound && r.isTransient() {
		unasked := 0
		for _, a := range o.Alternatives {
			if !r.askedInRound(a.Model) {
				unasked++
			}
		}
		left = min(left, unasked)
	}
	return max(0, left)
}

// roundsOver reports whether the model has asked for tools as often as the run allows. Each of
// its answers so far did, or the run would be over.
func (r *Run) roundsOver() bool {
	limit := r.Policy.MaxRounds
	return limit > 0 && r.Rounds/limit > r.Extended
}

// maxAttempts is how many attempts the current model call may have, including those after switches.
func (r *Run) maxAttempts() int {
	if r.Call.LastRound {
		return MaxAttemptsInAll + r.Call.Granted
	}
	return MaxAttemptsPerCall + r.Call.Granted
}

// outOfRetries reports whether d would be one retry of the current call too many. Going on when the
// network is back, or after a hand-over, does not count as a retry.
func (r *Run) outOfRetries(d Decision) bool {
	return d.Action == ActionRetry && r.Policy.AutoRecover && !d.LastRound && !r.Open.Offline && !r.Open.handedOver() && r.Call.Retries >= r.Policy.MaxRetries+r.Call.Granted
}
