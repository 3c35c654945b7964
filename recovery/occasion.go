package recovery

import (
	"strconv"
	"strings"
)

// Occasion is the id of what advice is asked about: the hook, the seq of the event that caused it
// and, if a person pressed a plugin's own button, the number of that press, as in "run_error/12"
// and "run_error/12/1". Votes and decisions are keyed by it.
type Occasion string

// HookRunError asks what to do about a failure.
const HookRunError = "run_error"

// Hook names the hook that is asked.
func (o Occasion) Hook() string {
	hook, _, _ := strings.Cut(string(o), "/")
	return hook
}

// Occasion is what advice is asked about, or was asked about last.
func (o *OpenFailure) Occasion() Occasion {
	id := HookRunError + "/" + strconv.FormatUint(o.Seq, 10)
	if o.Presses > 0 {
		id += "/" + strconv.Itoa(o.Presses)
	}
	return Occasion(id)
}

// Occasion is the failure that advice is wanted about now; "" if none is. See Awaits.
func (r *Run) Occasion() Occasion {
	if r.Open == nil || !r.Open.asking() {
		return ""
	}
	return r.Open.Occasion()
}

// advise asks the plugins that have not voted yet, and decides once all of them have.
func (r *Run) advise() []Effect {
	about := r.Occasion()
	if missing := r.missingVotes(); len(missing) > 0 {
		return r.timed(Effect{
			Key: "ask/" + string(about),
			Ask: &AskPlugins{Occasion: about, Plugins: missing},
		})
	}
	return record(r, Decided{Occasion: about, Decision: Decide(r)})
}

// voted keeps a vote for the decision. A vote of a plugin on trial, or on something already
// decided, is only recorded.
func (r *Run) voted(b Voted) {
	if b.Occasion.Hook() == HookBeforeCall {
		r.votedBeforeCall(b)
		return
	}
	if b.Occasion.Hook() == HookToolError {
		r.votedAboutTool(b)
		return
	}
	if o := r.Open; o != nil && o.Occasion() == b.Occasion && !b.Vote.Shadow {
		o.Votes = append(o.Votes, b.Vote)
		r.restricted(b.Vote)
	}
}

// decided applies a decision. A decision that follows from a button that a person pressed is
// carried out like the person's own answer.
func (r *Run) decided(b Decided) {
	o := r.Open
	if o == nil || o.Occasion() != b.Occasion {
		return
	}
	decision := b.Decision
	o.Decision = &decision
	if b.Decision.LastRound && !r.Call.LastRound {
		r.Call.LastRound, r.Call.RoundFrom = true, len(r.Call.Tried)
	}
	if o.Pressed != "" && (b.Decision.Action == ActionRetry || b.Decision.Action == ActionSwitchModel) {
		o.Accepted = true
		r.Call.Granted++
		r.Granted++
	}
	o.Pressed = ""
}

// missingVotes are the plugins that have not voted on the occasion yet.
func (r *Run) missingVotes() []string {
	var missing []string
	asked := r.Policy.Plugins
	switch o := r.Open; {
	case o.Cause == CauseCooling || o.Cause == CauseForbidden:
		return nil
	case o.Pressed != "" && o.Decision.By != nil:
		asked = []string{o.Decision.By.Plugin}
	}
	for _, p := range asked {
		if !r.Open.voted(p) {
			missing = append(missing, p)
		}
	}
	return missing
}
