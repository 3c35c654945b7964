package host

import (
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/recovery"
)

// TestAnOccasionThatIsNotOffered: the plugin does not start, and the error says what to change.
func TestAnOccasionThatIsNotOffered(t *testing.T) {
	t.Parallel()
	for wanted, starts := range map[string]bool{recovery.HookRunError: true, recovery.HookBeforeCall: true, recovery.HookRunEnded: false} {
		h := New()
		t.Cleanup(func() { _ = h.Close() })
		spec := faultySpec("gate", "")
		spec.Occasions = []string{wanted}
		if err := h.Add(spec); err != nil {
			t.Fatal(err)
		}
		err := h.Start(t.Context())
		if starts != (err == nil) || !starts && !strings.Contains(err.Error(), "it is to be asked about run_ended (occasions in mulligan.yaml), and takes only run_error, before_call") {
			t.Errorf("%s: %v", wanted, err)
		}
		if takes := h.Hooks()[0].Takes(wanted); !takes {
			t.Errorf("%s: it is not taken", wanted)
		}
	}
}

// TestBeforeCall: what a plugin says of a call comes back, and what is not valid says why.
func TestBeforeCall(t *testing.T) {
	t.Parallel()
	h := New()
	t.Cleanup(func() { _ = h.Close() })
	spec := faultySpec("gate", "")
	spec.Occasions, spec.FailClosed = []string{recovery.HookBeforeCall}, true
	if err := h.Add(spec); err != nil {
		t.Fatal(err)
	}
	if gate := h.Hooks()[0]; !gate.FailClosed || gate.Takes(recovery.HookRunError) {
		t.Errorf("%+v", gate)
	}
	ask := func(model string) (vote recovery.Vote) {
		about := hooks.BeforeCall{Run: "r", Model: recovery.Alternative{Model: model}, Alternatives: []recovery.Alternative{{Model: "b/two"}}}
		hooks.Dispatch(t.Context(), h.Hooks(), about, hooks.Deadlines{Each: patience, All: patience, Call: patience}, func(v recovery.Vote) { vote = v })
		return vote
	}
	if v := ask("b/two"); v.Action != recovery.ActionRoute || v.NewModel != "b/two" || v.Reason != "cheaper" || v.Version != "1.2.3" || v.PID == 0 {
		t.Errorf("%+v", v)
	}
	if v := ask("panic"); v.Action != recovery.ActionNone || !strings.Contains(v.Error, "panic: boom") {
		t.Errorf("%+v", v)
	}
	if v := ask("nowhere"); v.Action != recovery.ActionNone || !strings.Contains(v.Error, "not one of the alternatives") {
		t.Errorf("%+v", v)
	}
}
