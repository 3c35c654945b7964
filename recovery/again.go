package recovery

import (
	"cmp"
	"slices"

	"github.com/mulligan-run/mulligan/llm"
)

// An answer that was cut at the output limit, where nobody set one, is asked for once more
// with a larger limit. It stays what the run has come to until the second one is there:
// whatever becomes of that, the first is not lost.

// The limit of the second call: several times what the first answer used, between these.
const (
	againFactor     = 4
	againLeast      = 16 << 10
	againMost       = 128 << 10
	againTimeFactor = 4
)

// askAgain calls the model once more after an answer that was cut; nil where there is nothing
// to gain by that, or no way to.
func (r *Run) askAgain() []Effect {
	if !r.truncated || r.again || !r.Policy.AutoRecover || r.Policy.Tools == ToolsOfCaller || r.Policy.MaxOutputTokens > 0 || r.byEngine || !r.timeForAgain() {
		return nil
	}
	intent := Began{
		Attempt: r.Attempts + 1, Round: r.Rounds, Model: r.Model, Again: true,
		Adjust: Adjust{MaxOutputTokens: r.largerLimit()},
	}
	intent.Reserve = r.Policy.reserve(intent.Model, r.told, intent.Adjust.MaxOutputTokens)
	if r.permit(intent.Model, intent.Reserve) != nil {
		return nil
	}
	return r.timed(Effect{Key: callKey(intent.Attempt), Call: &CallModel{Intent: intent}})
}

// largerLimit is the output limit of the second call.
func (r *Run) largerLimit() int {
	used := max(r.cutTokens, llm.Tokens(len(r.Answer())))
	return int(min(max(againFactor*used, againLeast), againMost))
}

// timeForAgain reports whether whoever waits has time for an answer that is several times as long.
func (r *Run) timeForAgain() bool {
	return r.WaitsUntil.IsZero() || r.Last.Add(againTimeFactor*r.LastStepTook.Duration()).Before(r.WaitsUntil)
}

// answeredAgain makes way for the second answer.
func (r *Run) answeredAgain() {
	cut := r.Messages[len(r.Messages)-1:]
	r.told -= sizes(cut)
	r.Messages = slices.Clip(r.Messages[:len(r.Messages)-1])
	r.Rounds-- // it is the same one
}

// failedAgain leaves the run with its first answer. A call whose process died is made anew: it
// has not failed itself.
func (r *Run) failedAgain(b Failed) {
	lost := r.againInAir() && r.Attempt.State == AttemptOrphaned && r.Attempt.ID == b.Attempt
	if a := r.Attempt; a != nil && a.ID == b.Attempt && a.InAir() {
		a.Text = cmp.Or(b.Text, a.Text)
		r.settle(a.Model, b.Usage)
		r.Spent = r.Spent.Plus(r.Policy.unreported(a, b.Said, b.Usage))
		r.Wasted = r.Wasted.Plus(b.Usage)
		r.FailedAttempts++
	}
	r.leaveAgain()
	if lost {
		r.Crashes++
		r.again = r.Crashes >= MaxInterruptedCrashes
	}
	r.expired = ""
	r.Status = StatusRunning
}

// leaveAgain drops the second call, where there is one.
func (r *Run) leaveAgain() {
	r.Attempt, r.Call, r.again = nil, Call{}, true
}

// againInAir reports whether the call at hand is the second one.
func (r *Run) againInAir() bool { return r.Attempt != nil && r.Attempt.Again }

// Conversation is what a call that begins so is told: the second one after an answer that was
// cut does not hear that.
func (b Began) Conversation(r *Run) []llm.Message {
	n := len(r.Messages)
	if b.Again {
		n--
	}
	return r.Messages[:n:n]
}
