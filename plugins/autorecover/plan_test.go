package autorecover

import (
	"testing"

	"github.com/mulligan-run/mulligan/failure"
)

// TestEveryKindHasAPlan: what is done about a kind without one is for those of a newer version.
func TestEveryKindHasAPlan(t *testing.T) {
	for _, kind := range failure.Kinds() {
		if _, ok := plans[kind]; !ok {
			t.Errorf("plan.go has no line for %s", kind)
		}
	}
}
