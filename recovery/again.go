package recovery

import (
	"cmp"
	"slices"

	"github.com/mulligan-run/mulligan/llm"
)

// An answer that was cut at the output limit, although nobody had set one, is asked for once more
// with a larger limit. The first answer stays the run's answer until the second one has come, so it
// is not lost if the second call fails.

// The limit of the second call is a multiple of what the first answer used, within these bounds.
const (
	againFactor     = 4
	againLeast      = 16 << 10
	againMost       = 128 << 10
	againTimeFactor = 4
)

// askAgain calls the model once more after an answer that was cut; nil if a second call is
// impossible or would gain nothing.
func (r *Run) askAgain() []Effect {
	if !r.truncated || r.again || !r.Policy.AutoRecover || r.Policy.Tools == ToolsOfCaller || r.Policy.MaxOutputTokens > 0 || r.byEngine || !r.timeForAgain() {
		return nil
	}
	intent := Began{
		Attempt: r.Attempts + 1, Round: r.Rounds, Model: r.Model, Again: true,
		Adjust: Adjust{MaxOutputTokens: r.largerLimit()},
	}
	intent.Reserve = r.Policy.reserve(intent.Model, r.contextBytes, intent.Adjust.MaxOutputTokens)
	if r.permit(intent.Model, intent.Reserve) != nil {
		return nil
	}
	if g := r.Gate; g != nil && (g.Model != "" || g.Held != nil) { // the first answer will do
		return nil
	}
	if first := r.beforeCall(intent); first != nil {
		return first
	}
	return r.timed(Effect{Key: callKey(intent.Attempt), Call: &CallModel{Intent: intent}})
}

// largerLimit is the output limit of the second call.
func (r *Run) largerLimit() int {
	used := max(r.cutTokens, llm.Tokens(len(r.Answer())))
	return int(min(max(againFactor*used, againLeast), againMost))
}

// timeForAgain reports whether the caller's deadline leaves time for an answer that takes
// againTimeFactor times as long.
func (r *Run) timeForAgain() bool {
	return r.WaitsUntil.IsZero() || r.Last.Add(againTimeFactor*r.LastStepTook.Duration()).Before(r.WaitsUntil)
}

// answeredAgain removes the first answer, which the second one replaces.
func (r *Run) answeredAgain() {
	cut := r.Messages[len(r.Messages)-1:]
	r.contextBytes -= sizes(cut)
	r.Messages = slices.Clip(r.Messages[:len(r.Messages)-1])
	r.Rounds-- // the second answer belongs to the same round
}

// failedAgain leaves the run with its first answer. A second call that was interrupted because its
// process stopped is made again: the model itself has not failed.
func (r *Run) failedAgain(b Failed) {
	lost := r.againInAir() && r.Attempt.State == AttemptOrphaned && r.Attempt.ID == b.Attempt
	handedOver := r.againInAir() && b.Cause == CauseHandedOver
	if a := r.Attempt; a != nil && a.ID == b.Attempt && a.InAir() {
		a.Text = cmp.Or(b.Text, a.Text)
		r.settle(a.Model, b.Usage)
		r.Spent = r.Spent.Plus(r.Policy.unreported(a, b.Said, b.Usage))
		r.Wasted = r.Wasted.Plus(b.Usage)
		r.FailedAttempts++
	}
	r.leaveAgain()
	switch {
	case handedOver:
		r.again = false
	case lost:
		r.Crashes++
		r.again = r.Crashes >= MaxInterruptedCrashes
	}
	r.expired = ""
	r.Status = StatusRunning
}

// leaveAgain drops the second call, if there is one.
func (r *Run) leaveAgain() {
	r.Attempt, r.Call, r.again = nil, Call{}, true
}

// againInAir reports whether the call in the air is the second one.
func (r *Run) againInAir() bool { return r.Attempt != nil && r.Attempt.Again }

// Conversation is the transcript that is sent with the call. A second call after an answer that was
// cut is not sent that answer.
func (b Began) Conversation(r *Run) []llm.Message {
	n := len(r.Messages)
	if b.Again {
		n--
	}
	return r.Messages[:n:n]
}
