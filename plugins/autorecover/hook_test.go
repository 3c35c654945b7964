package autorecover_test

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/plugins/autorecover"
	"github.com/mulligan-run/mulligan/recovery"
)

// TestHookIsThePolicy: in process the policy says what it says as a plugin.
func TestHookIsThePolicy(t *testing.T) {
	e := hooks.RunError{
		Failure: *failure.NewFailure(failure.KindAuth, failure.OriginModel, failure.PhaseBeforeFirstEvent, nil),
		Model:   fable, MaxRetries: 3, AutoRecover: true,
		Alternatives: []recovery.Alternative{{Model: quill}},
	}
	vote, err := autorecover.Hook().Advise(t.Context(), e)
	if err != nil || said(vote) != quill || vote.Version == "" || vote.Reason == "" {
		t.Errorf("%+v, %v", vote, err)
	}
	config := autorecover.Config{Delays: []time.Duration{3 * time.Second}}
	e.Failure = *failure.NewFailure(failure.KindOverloaded, failure.OriginModel, failure.PhaseBeforeFirstEvent, nil)
	if vote, err = config.Hook().Advise(t.Context(), e); err != nil || vote.Delay != 3000 {
		t.Errorf("with a configuration: %+v, %v", vote, err)
	}
}

// TestHookDragsNoConnectionAlong: an embedder who has the policy in process does not compile
// what plugin processes are spoken to with.
func TestHookDragsNoConnectionAlong(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".", "../../runner").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for path := range strings.Lines(string(out)) {
		for _, foreign := range []string{"google.golang.org/grpc", "google.golang.org/protobuf", "github.com/hashicorp/go-plugin", "mulligan/sdk/"} {
			if strings.Contains(path, foreign) {
				t.Errorf("it imports %s", path)
			}
		}
	}
}
