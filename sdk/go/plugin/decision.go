package plugin

import (
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/recovery"
)

// Decision is advice. The zero value is "no opinion".
type Decision struct {
	Action   recovery.Action
	Delay    time.Duration // before it is carried out, 0 or more
	NewModel string        // for switch_model: one of Event.Alternatives
	Reason   string        // for people; at most 500 bytes are kept
	Actions  []recovery.Button
	Adjust   recovery.Adjust // what the next attempt changes
	// Restrict is what is forbidden from now on, whoever advises or chooses it; nil = nothing. It may
	// be combined with any action, or stand alone: [Forbid].
	Restrict *recovery.Restrict
}

// None is "no opinion".
var None = Decision{}

// Retry asks the same model again after a pause.
func Retry(after time.Duration) Decision {
	return Decision{Action: recovery.ActionRetry, Delay: after}
}

// Switch asks another model, one of Event.Alternatives.
func Switch(model, reason string) Decision {
	return Decision{Action: recovery.ActionSwitchModel, NewModel: model, Reason: reason}
}

// Fail gives up.
func Fail(reason string) Decision { return Decision{Action: recovery.ActionFail, Reason: reason} }

// Forbid has no opinion, but forbids models until the plugin answers about the run again.
func Forbid(what recovery.Restrict, reason string) Decision {
	return Decision{Restrict: &what, Reason: reason}
}

// Because gives d a reason for people.
func (d Decision) Because(reason string) Decision {
	d.Reason = reason
	return d
}

func (d Decision) vote() recovery.Vote {
	return recovery.Vote{
		Action: d.Action, Delay: failure.InMillis(d.Delay), NewModel: d.NewModel,
		Reason: d.Reason, Actions: d.Actions, Adjust: d.Adjust, Restrict: d.Restrict,
	}
}
