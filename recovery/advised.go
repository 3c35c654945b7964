package recovery

import (
	"cmp"
	"fmt"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/failure/words"
)

// A call that only asks for advice is also a run: another program makes the attempts and reports
// each one that failed. Its events are those of any run, except that nothing here carries the
// decision out: the caller does, or does not, and reports how that went.

// CallOwner says who makes a run's model calls.
type CallOwner string

// The owners of model calls.
const (
	CallsOfRun    CallOwner = ""       // the runner
	CallsOfCaller CallOwner = "caller" // the caller, which asks what to do when one has failed
)

// labelKind is the label by which runs other than conversations are listed: KindAdvised runs only
// say what to do, KindProxied runs are model calls of another program. labelSession names the
// conversation of such a call.
const (
	labelKind    = "mulligan/kind"
	labelSession = "mulligan/session"
	KindAdvised  = "advised"
	KindProxied  = "proxied"
)

// CallLabels are the labels of a run that is a call of another program. session is the program's
// own name for its conversation; one that cannot be a label's value is replaced with its digest.
func CallLabels(kind, session string) Labels {
	l := Labels{labelKind: kind}
	switch {
	case session == "":
	case isLabelValue(session):
		l[labelSession] = session
	default:
		l[labelSession] = DigestOf([]byte(session)).SHA256
	}
	return l
}

// callerTime is how long the run waits, after the delay that it gave, for a caller that was told to
// go on: longer than any answer takes.
const callerTime = time.Hour

// Told is what a caller reports about its own attempt; plugins are told it, too.
type Told struct {
	ToolsRan    bool     `json:"toolsRan,omitempty"`    // tools have run that would run again if the caller started over
	UnsafeTools []string `json:"unsafeTools,omitempty"` // those of them that must not run twice
	Aborted     bool     `json:"aborted,omitempty"`     // the caller itself ended the attempt
	TimedOut    bool     `json:"timedOut,omitempty"`    // the attempt took too long
}

// advises reports whether r only says what to do.
func (r *Run) advises() bool { return r.Policy.Calls == CallsOfCaller }

// Made is the Began of the attempt that a caller reports. An empty model stands for the one that
// the caller was told to ask.
func (r *Run) Made(model string) Began {
	b := r.intent()
	b.Model = cmp.Or(model, b.Model)
	b.Retry, b.Reserve = b.Try > 0 && b.Model == r.Model, Budget{}
	return b
}

// leaveToCaller waits for the caller to do what was decided. A caller that does not report again
// counts as not having done it.
func (r *Run) leaveToCaller() []Effect {
	o := r.Open
	switch {
	case o.Waited:
		return r.fail()
	case r.Wait == nil:
		model := r.Model
		if o.Decision.Action == ActionSwitchModel {
			model = o.Decision.NewModel
		}
		return record(r, Waiting{
			ID: fmt.Sprintf("%s-w%d", r.ID, o.Seq), For: WaitCaller, Model: model,
			Until: r.Last.Add(o.Decision.Delay.Duration() + callerTime),
		})
	}
	return []Effect{timer(r.Wait.Until, Due{Timer: failure.TimerWait, Failure: o.Seq})}
}

// adviceLine says what was advised: "Anthropic is overloaded. Its caller was told to try again in
// 4 s."
func (r *Run) adviceLine(w Waiting) string {
	what := "to try again"
	if w.Model != r.Model {
		what = "to switch to " + w.Model
	}
	if d := r.Open.Decision; d != nil && d.Delay > 0 {
		what += " in " + words.Duration(d.Delay.Duration())
	}
	return r.Open.Failure.Short() + ". The caller was told " + what + "."
}

// ofCaller makes the client carry out the buttons, except for Stop and a plugin's own ones: going
// on with the call is the caller's business.
func ofCaller(buttons []Button) []Button {
	for i := range buttons {
		if b := &buttons[i]; !b.own() && b.Kind != ButtonStop {
			b.Effect = EffectClient
		}
	}
	return buttons
}
