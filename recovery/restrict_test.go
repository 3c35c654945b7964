package recovery

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestI60 plays random runs whose plugins forbid models: none of them is asked from then on,
// whoever retries, switches, goes on, sums up or chooses, until the plugin takes it back.
func TestI60(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)()
		w.start.Policy.Local = []string{"b/two"}
		w.start.Policy.Prices = map[string]Price{"a/one": {Output: 9}, "b/two": {Output: 2}}
		w.start.Policy.CompactionModel = rapid.SampledFrom([]string{"", "c/three"}).Draw(t, "compaction")
		y := newToy(w)
		held := map[string]*Restrict{}
		y.check = func(_ *Run, e Event, _ *Run) {
			switch b := e.Body.(type) {
			case Voted:
				if b.Vote.Error == "" && !b.Vote.Shadow {
					held[b.Vote.Plugin] = b.Vote.Restrict
				}
			case Began:
				mayAsk(t, held, b.Model)
			case Compacting:
				mayAsk(t, held, b.Model)
			}
		}
		y.start(t)
		y.loop(t)
		oneEnd(t, y)
	})
}

// mayAsk computes independently of the heart what a restriction means for the models of TestI60.
func mayAsk(t *rapid.T, held map[string]*Restrict, model string) {
	for plugin, x := range held {
		switch {
		case x == nil:
		case slices.Contains(x.Never, model), slices.Contains(x.Never, model[:1]+"/*"),
			x.Local && model != "b/two", x.MaxOutputPrice > 0 && model != "b/two":
			t.Fatalf("I60: %s is asked, which %s forbids: %+v", model, plugin, *x)
		}
	}
}

// TestNobodyChoosesWhatIsForbidden: a person who names such a model is told who forbids it.
func TestNobodyChoosesWhatIsForbidden(t *testing.T) {
	r := &Run{}
	for _, stored := range play(t, stories(t)["forbidden_ask"]()).log {
		var e Event
		if err := json.Unmarshal(stored, &e); err != nil {
			t.Fatal(err)
		}
		if err := r.Apply(e); err != nil {
			t.Fatal(err)
		}
		if r.SuggestionOpen() {
			break
		}
	}
	if !r.SuggestionOpen() {
		t.Fatalf("it is %s", r.Status)
	}
	_, err := r.Accept("", "a1", "c/three", r.Last)
	if !errors.Is(err, ErrNoSuchAction) || !strings.Contains(err.Error(), "gate") {
		t.Errorf("%v", err)
	}
	for _, b := range r.Suggestion.Actions {
		if b.Model == "c/three" || b.Kind == ButtonRetry {
			t.Errorf("it is offered %+v", b)
		}
	}
	if card := r.Situation().Stages[0].Card; !strings.Contains(card.Message, "c/three is not allowed: it costs too much (gate: the story says so).") {
		t.Errorf("the card says %q", card.Message)
	}
}

func TestNames(t *testing.T) {
	for name, want := range map[string]bool{"a/one": true, "a/*": true, "*": false, "a*": false, "a/o*": false, "a": false, "a/on": false, "": false, "b/*": false} {
		if names(name, "a/one") != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
}
