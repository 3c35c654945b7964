package recovery

import (
	"slices"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/failure"
)

// offered is r's suggestion in one line: kind, a star for the primary one.
func offered(r *Run, d Decision) string {
	if d.Action != ActionNone {
		d.By = &Voter{Plugin: "p"}
	}
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
		kind   failure.Kind
		d      Decision
		change func(*Run)
		want   string
	}{
		{"the decision is primary", failure.KindOverloaded, retry, nil, "retry* switch_model=b/two stop"},
		{"the other one", failure.KindStreamInterrupted, another, nil, "switch_model=b/two* retry stop"},
		{"a retry that the kind does not list", failure.KindTLS, retry, nil, "retry* copy_details switch_model=b/two stop"},
		{"a silent model", failure.KindTimeout, retry, func(r *Run) { r.Open.Failure.Timer = failure.TimerIdle }, "retry* wait_longer switch_model=b/two stop"},
		{"a model silent too often", failure.KindTimeout, retry, func(r *Run) { r.IdleExpiries = silent(r.Model) }, "switch_model=b/two* stop"},
		{"a long wait", failure.KindRateLimit, Decision{Action: ActionRetry, Delay: 90_000}, nil, "resume_at* switch_model=b/two retry stop"},
		{"a provider that asked for a long wait", failure.KindRateLimit, another, func(r *Run) { r.Open.Failure.RetryAfter = 90_000 }, "switch_model=b/two* resume_at retry stop"},
		{"the time is over", failure.KindRunTimeout, retry, func(r *Run) { r.Open.Cause = CauseClock }, "extend* stop"},
		{"a model that says so", failure.KindRunTimeout, retry, nil, "retry* stop"},
		{"a kind of a newer version", "gremlins", retry, nil, "retry* switch_model=b/two stop"},
		{"a plugin's buttons", failure.KindOverloaded, Decision{Action: ActionRetry, Actions: []Button{
			{Kind: ButtonSwitchModel, Model: "evil/x"}, {Kind: ""}, {Kind: "call_mum", Label: "Call mum", Primary: true},
		}}, nil, "retry* switch_model=b/two call_mum stop"},
		{"buttons that lead somewhere, or nowhere", failure.KindOverloaded, Decision{Action: ActionRetry, Actions: []Button{
			{Label: "Status page", URL: "https://status.example.com/?a=b"},
			{Label: "Trick", URL: "javascript:alert(1)"},
			{Label: "Trick", URL: "https://me@evil.example"},
			{Label: "Trick", URL: "https://a b"},
			{Kind: ButtonStop},
		}}, nil, "retry* switch_model=b/two open stop"},
		{
			"a fail with a button of its own", failure.KindOverloaded,
			Decision{Action: ActionFail, Actions: []Button{{Kind: "call_mum"}}},
			nil,
			"call_mum* switch_model=b/two retry stop",
		},
		{
			"a fail whose button was pressed too often", failure.KindOverloaded,
			Decision{Action: ActionFail, Actions: []Button{{Kind: "call_mum"}}},
			func(r *Run) { r.Open.Presses = maxPresses }, "",
		},
		{"no opinion, and it may pass", failure.KindOverloaded, Decision{}, nil, "retry* switch_model=b/two stop"},
		{"no opinion, and it will not", failure.KindAuth, Decision{}, nil, "retry* fix_key switch_model=b/two stop"},
		{"no opinion, and another model may do", failure.KindModelNotFound, Decision{}, nil, "switch_model=b/two* choose_model stop"},
		{"no opinion, and it is too long", failure.KindContextOverflow, Decision{}, nil, "switch_model_larger=b/two* stop"},
		{"no opinion on a model silent too often", failure.KindTimeout, Decision{}, func(r *Run) { r.IdleExpiries = silent(r.Model) }, "switch_model=b/two* stop"},
		{"no opinion, and nothing helps", failure.KindPromptFailure, Decision{}, nil, ""},
		{"fail", failure.KindOverloaded, Decision{Action: ActionFail}, nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := openRun(failure.NewFailure(c.kind, failure.OriginModel, failure.PhaseMidStream, nil))
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
	for _, kind := range failure.Kinds() {
		for _, d := range []Decision{{Action: ActionRetry}, {Action: ActionSwitchModel, NewModel: "b/two"}} {
			r := openRun(failure.NewFailure(kind, failure.OriginModel, failure.PhaseMidStream, nil))
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
