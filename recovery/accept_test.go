package recovery_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
)

// offered returns a run with an open suggestion, and the time at which that was made.
func offered(t *testing.T) (*recovery.Run, time.Time) {
	t.Helper()
	at := time.Date(2026, 1, 2, 15, 0, 0, 0, time.UTC)
	policy := recovery.DefaultPolicy()
	policy.Plugins, policy.Models = []string{"p"}, []string{"a/one", "b/two"}
	r := &recovery.Run{}
	write(t, r, at,
		recovery.Started{Model: "a/one", Input: []llm.Message{llm.User("hi")}, Policy: policy},
		recovery.Claimed{Owner: "me", Epoch: 1},
		recovery.Began{Attempt: 1, Round: 1, Model: "a/one"},
		recovery.Failed{
			Attempt: 1, Failure: *failure.NewFailure(failure.KindOverloaded, failure.OriginModel, failure.PhaseBeforeFirstEvent, nil),
			Alternatives: []recovery.Alternative{{Model: "b/two"}},
		},
		recovery.Voted{Occasion: "run_error/4", Vote: recovery.Vote{Plugin: "p", Action: recovery.ActionRetry}},
	)
	for !r.SuggestionOpen() {
		effects := recovery.Next(r)
		if len(effects) != 1 || effects[0].Record == nil {
			t.Fatalf("wanted instead: %+v", effects)
		}
		write(t, r, at, effects[0].Record)
	}
	return r, at
}

func write(t *testing.T, r *recovery.Run, at time.Time, bodies ...recovery.Body) {
	t.Helper()
	for _, b := range bodies {
		if err := r.Apply(recovery.Event{Run: "r1", Seq: r.Seq + 1, Time: at, Body: b}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAcceptOnce(t *testing.T) {
	r, at := offered(t)
	id := r.Suggestion.ID
	accepted, err := r.Accept("", "retry", "", at)
	if err != nil || accepted.Suggestion != id {
		t.Fatalf("got %+v, %v", accepted, err)
	}
	write(t, r, at, accepted)
	for _, again := range []string{"", id} {
		if _, err := r.Accept(again, "retry", "", at); !errors.Is(err, recovery.ErrAnswered) {
			t.Errorf("answering %q again: %v", again, err)
		}
	}
}

func TestAcceptRefuses(t *testing.T) {
	late := recovery.DefaultPolicy().SuggestionTTL.Duration()
	for name, c := range map[string]struct {
		suggestion, action, model string
		after                     time.Duration
		want                      error
	}{
		"another suggestion":     {"r1-s99", "retry", "", 0, recovery.ErrExpired},
		"too late":               {"", "retry", "", late, recovery.ErrExpired},
		"no such action":         {"", "a9", "", 0, recovery.ErrNoSuchAction},
		"a model not allowed":    {"", "switch_model", "evil/one", 0, recovery.ErrNoSuchAction},
		"an action of a client":  {"", "copy_details", "", 0, recovery.ErrNoSuchAction},
		"the last moment counts": {"", "retry", "", late - 1, nil},
	} {
		t.Run(name, func(t *testing.T) {
			r, at := offered(t)
			if _, err := r.Accept(c.suggestion, c.action, c.model, at.Add(c.after)); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}

// TestUnknownModelIsNamed: also where the suggestion has no switch, a model that the run may not use is
// what is wrong, and not an action that nobody has named.
func TestUnknownModelIsNamed(t *testing.T) {
	r, at := offered(t)
	r.Suggestion.Actions = slices.DeleteFunc(r.Suggestion.Actions, func(b recovery.Button) bool { return b.Kind == recovery.ButtonSwitchModel })
	_, err := r.Accept("", recovery.ButtonSwitchModel, "evil/one", at)
	if !errors.Is(err, recovery.ErrNoSuchAction) || !strings.Contains(err.Error(), `model "evil/one" is not one that this run may use`) {
		t.Errorf("got %v", err)
	}
}

func TestStopCloses(t *testing.T) {
	r, at := offered(t)
	accepted, err := r.Accept("", "stop", "", at)
	if err != nil {
		t.Fatal(err)
	}
	write(t, r, at, accepted)
	write(t, r, at, recovery.Next(r)[0].Record)
	if r.Status != recovery.StatusCancelled || r.End == nil {
		t.Errorf("status %s, end %+v", r.Status, r.End)
	}
	if _, err := r.Accept(accepted.Suggestion, "retry", "", at); !errors.Is(err, recovery.ErrExpired) || !strings.HasSuffix(err.Error(), "the run was stopped") {
		t.Errorf("answering a stopped suggestion: %v", err)
	}
}
