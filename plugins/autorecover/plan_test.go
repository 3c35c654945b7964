package autorecover

import (
	"testing"

	"github.com/mulligan-run/mulligan/failure"
)

// TestEveryKindHasAPlan: the default plan is for the kinds of newer versions only.
func TestEveryKindHasAPlan(t *testing.T) {
	for _, kind := range failure.Kinds() {
		if _, ok := plans[kind]; !ok {
			t.Errorf("plan.go has no line for %s", kind)
		}
	}
}
