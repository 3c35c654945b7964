package hooks

import (
	"context"
	"os"
	"regexp"
	"testing"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
)

// another is an occasion that nobody knows yet.
type another struct{}

func (another) Hook() string      { return "another" }
func (another) For(bool) Occasion { return another{} }

// TestAnotherOccasion: a hook for failures has no opinion about anything else.
func TestAnotherOccasion(t *testing.T) {
	hook := Func(func(context.Context, RunError) (recovery.Vote, error) {
		return recovery.Vote{Action: recovery.ActionRetry}, nil
	})
	for _, about := range []Occasion{another{}, nil} {
		if vote, err := hook.Advise(t.Context(), about); err != nil || vote.Action != recovery.ActionNone {
			t.Errorf("about %T: %+v, %v", about, vote, err)
		}
	}
	if vote, err := hook.Advise(t.Context(), RunError{}); err != nil || vote.Action != recovery.ActionRetry {
		t.Errorf("about a failure: %+v, %v", vote, err)
	}
}

func TestNewOccasion(t *testing.T) {
	run := &recovery.Run{ID: "r1"}
	if about := NewOccasion(run); about != nil {
		t.Errorf("of a run that goes on: %+v", about)
	}
	run.Open = &recovery.OpenFailure{Seq: 3}
	if about, ok := NewOccasion(run).(RunError); !ok || about.Run != "r1" || about.Hook() != recovery.HookRunError {
		t.Errorf("of one that failed: %+v", about)
	}
	run.Open.Decision = &recovery.Decision{}
	if about := NewOccasion(run); about != nil {
		t.Errorf("once it is decided: %+v", about)
	}
}

// TestTheTranscriptIsGranted: nobody else gets it.
func TestTheTranscriptIsGranted(t *testing.T) {
	e := RunError{Run: "r1", Transcript: []llm.Message{llm.User("hi")}}
	if seen, _ := e.For(false).(RunError); seen.Run != "r1" || seen.Transcript != nil {
		t.Errorf("without the grant: %+v", seen)
	}
	if seen, _ := e.For(true).(RunError); len(seen.Transcript) != 1 {
		t.Errorf("with it: %+v", seen)
	}
}

// TestEveryHookIsDescribed: one that is not would never be asked.
func TestEveryHookIsDescribed(t *testing.T) {
	source, err := os.ReadFile("../recovery/occasion.go")
	if err != nil {
		t.Fatal(err)
	}
	hooks := regexp.MustCompile(`(?m)^const Hook\w+ = "(\w+)"`).FindAllStringSubmatch(string(source), -1)
	if len(hooks) == 0 || len(hooks) != len(described) {
		t.Errorf("recovery/occasion.go names %d hooks, and described has %d", len(hooks), len(described))
	}
	for _, hook := range hooks {
		if described[hook[1]] == nil {
			t.Errorf("described has no %s", hook[1])
		}
	}
}
