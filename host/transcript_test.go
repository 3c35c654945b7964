package host

import (
	"testing"

	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/llm"
)

// TestTranscriptsAreGranted: what was said in a run reaches only a plugin that may have
// it, also when that is settled while it runs.
func TestTranscriptsAreGranted(t *testing.T) {
	e := hooks.RunError{Run: "r1", Transcript: []llm.Message{llm.User("a secret plan"), llm.User("and more")}}
	spec := faultySpec("listen", "")
	h := New()
	t.Cleanup(func() { _ = h.Close() })
	if err := h.Add(spec); err != nil {
		t.Fatal(err)
	}
	hear := func() string {
		vote, err := h.Hooks()[0].Hook.Advise(t.Context(), e)
		if err != nil {
			t.Fatal(err)
		}
		return vote.Reason
	}
	if got := hear(); got != "0 messages" {
		t.Errorf("without a grant: %s", got)
	}
	spec.Transcript = true
	if err := h.Reload(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	if got := hear(); got != "2 messages" {
		t.Errorf("with a grant: %s", got)
	}
}
