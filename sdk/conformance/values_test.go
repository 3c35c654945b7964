package conformance

import (
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/host"
	"github.com/mulligan-run/mulligan/recovery"
)

// TestValues: what the host keeps for a plugin is there in every SDK, and each language's plugin has its
// own.
func TestValues(t *testing.T) {
	dir := t.TempDir()
	for _, l := range languages() {
		t.Run(l.name, func(t *testing.T) {
			if testing.Short() && l.name != "go" {
				t.Skip("compiles a plugin in another language")
			}
			made := l.command(t)
			for _, want := range []string{"2 true false n,n/x true 24", "26 true false n,n/x true 264"} {
				h := host.New(host.WithStateDir(dir))
				if err := h.Add(host.Spec{Name: l.name, Command: made.Args, Env: made.Env}); err != nil {
					t.Fatal(err)
				}
				about := hooks.RunError{Run: "r", Failure: failure.Failure{Kind: failure.KindTimeout, Detail: "values n"}, Time: time.Now()}
				hooks.Dispatch(t.Context(), h.Hooks(), about, hooks.Deadlines{Start: time.Minute, Each: time.Minute, All: time.Minute}, func(v recovery.Vote) {
					if v.Error != "" || v.Reason != want {
						t.Errorf("%q, %s, want %q", v.Reason, v.Error, want)
					}
				})
				if err := h.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}
