package recovery

import (
	"time"

	"github.com/mulligan-run/mulligan/failure"
)

// OpenFailure is a failure from its event until something is done about it.
type OpenFailure struct {
	Seq          uint64
	At           time.Time
	Attempt      int // within the model call, from 0
	Failure      failure.Failure
	Cause        Cause
	CallID       string
	Alternatives []Alternative
	Cooling      []Cooldown
	Unfit        []Unfit
	Votes        []Vote
	Decision     *Decision
	Accepted     bool   // a person accepted: carry it out, whatever autoRecover says
	Waited       bool   // the decision's delay is over, or the network is back
	Offline      bool   // this machine had no connection
	Compacted    bool   // the conversation was shortened, or could not be
	Pressed      string // the kind of the plugin's own button that a person pressed, for which that plugin is asked
	Presses      int    // how often a person pressed such a button
	Tell         string
	Told         Told // what else the caller reports
}

// Failure is the failure about which nothing has been done yet; nil if there is none, as when a
// person is only asked to approve a tool call.
func (r *Run) Failure() *failure.Failure {
	if r.Open == nil || r.Open.Cause == CauseApproval {
		return nil
	}
	return &r.Open.Failure
}

// asking reports whether plugins are being asked: nothing is decided yet, or a person pressed a
// plugin's own button.
func (o *OpenFailure) asking() bool { return o.Decision == nil || o.Pressed != "" }

// undelayed reports whether the decision is carried out at once, so that no wait announces it.
func (o *OpenFailure) undelayed() bool { return o.Decision == nil || o.Decision.Delay == 0 }

// isOfTool reports whether a tool failed. The model gets the failure as the call's result, and the
// run goes on unless a plugin says otherwise (spec §5).
func (o *OpenFailure) isOfTool() bool { return o.CallID != "" }

func (o *OpenFailure) voted(plugin string) bool {
	for _, v := range o.Votes {
		if v.Plugin == plugin {
			return true
		}
	}
	return false
}

// stopFailed is the stop reason if the failure's kind has none of its own.
const stopFailed = "failed"

func (o *OpenFailure) stopReason() string {
	switch f := o.Failure; {
	case f.Kind == failure.KindStepTimeout, f.Kind == failure.KindMaxTurnTime:
		return string(f.Kind)
	case f.Kind == failure.KindRunTimeout, f.IsIdle():
		return "timeout"
	}
	return stopFailed
}
