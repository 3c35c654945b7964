package recovery

import (
	"slices"
	"strings"
	"testing"
)

// offered is r's suggestion in one line: kind, a star for the primary one.
func offered(r *Run, d Decision) string {
	r.Open.Decision = &d
	var list []string
	for _, b := range r.suggest().Actions {
		word := b.Kind
		if b.Model != "" {
			word += "=" + b.Model
		}
		if b.Primary {
			word += "*"
		}
		list = append(list, word)
	}
	return strings.Join(list, " ")
}

func TestButtons(t *testing.T) {
	retry, another := Decision{Action: ActionRetry}, Decision{Action: ActionSwitchModel, NewModel: "b/two"}
	for _, c := range []struct {
		name   string
		kind   Kind
		d      Decision
		change func(*Run)
		want   string
	}{
		{"the decision is primary", KindOverloaded, retry, nil, "switch_model=b/two retry* stop"},
		{"the other one", KindStreamInterrupted, another, nil, "retry switch_model=b/two* stop"},
		{"a retry that the kind does not list", KindTLS, retry, nil, "retry* copy_details switch_model=b/two stop"},
		{"a silent model", KindTimeout, retry, func(r *Run) { r.Open.Failure.Timer = TimerIdle }, "retry* wait_longer switch_model=b/two stop"},
		{"a model silent too often", KindTimeout, retry, func(r *Run) { r.IdleExpiries = silent(r.Model) }, "switch_model=b/two* stop"},
		{"a long wait", KindRateLimit, Decision{Action: ActionRetry, Delay: 90_000}, nil, "resume_at switch_model=b/two retry* stop"},
		{"a provider that asked for a long wait", KindRateLimit, another, func(r *Run) { r.Open.Failure.RetryAfter = 90_000 }, "resume_at switch_model=b/two* retry stop"},
		{"the time is over", KindRunTimeout, retry, func(r *Run) { r.Open.Cause = CauseClock }, "extend* stop"},
		{"a model that says so", KindRunTimeout, retry, nil, "retry* stop"},
		{"a kind of a newer version", "gremlins", retry, nil, "retry* switch_model=b/two stop"},
		{"a plugin's buttons", KindOverloaded, Decision{Action: ActionRetry, Actions: []Button{
			{Kind: ButtonSwitchModel, Model: "evil/x"}, {Kind: ""}, {Kind: "call_mum", Label: "Call mum", Primary: true},
		}}, nil, "switch_model=b/two retry* call_mum stop"},
		{"fail", KindOverloaded, Decision{Action: ActionFail}, nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := openRun(NewFailure(c.kind, OriginModel, PhaseMidStream, nil))
			if c.change != nil {
				c.change(r)
			}
			if got := offered(r, c.d); got != c.want {
				t.Errorf("%s\nnot %s", got, c.want)
			}
		})
	}
}

func TestEverySuggestionHasAnIDPerButtonAndOnePrimary(t *testing.T) {
	for _, kind := range Kinds() {
		for _, d := range []Decision{{Action: ActionRetry}, {Action: ActionSwitchModel, NewModel: "b/two"}} {
			r := openRun(NewFailure(kind, OriginModel, PhaseMidStream, nil))
			r.Open.Decision = &d
			actions := r.suggest().Actions
			var ids []string
			primary := 0
			for _, b := range actions {
				ids = append(ids, b.ID)
				if b.Primary {
					primary++
				}
				if b.Label == "" || b.Effect == "" {
					t.Errorf("%s: %+v", kind, b)
				}
			}
			slices.Sort(ids)
			if primary != 1 || len(slices.Compact(ids)) != len(actions) || actions[len(actions)-1].Kind != ButtonStop {
				t.Errorf("%s %s: %+v", kind, d.Action, actions)
			}
		}
	}
}
