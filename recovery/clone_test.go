package recovery

import (
	"slices"
	"testing"

	"github.com/mulligan-run/mulligan/failure"
)

// TestAClonesFailuresAreItsOwn: what a run and its clone meet after that is not mixed.
func TestAClonesFailuresAreItsOwn(t *testing.T) {
	r := &Run{}
	for range 3 { // there is room for a fourth
		r.Trouble.met(failure.KindTimeout, Budget{})
	}
	c := r.Clone()
	r.Trouble.met(failure.KindAuth, Budget{})
	c.Trouble.met(failure.KindBilling, Budget{})
	if got := r.Trouble.Failed[3]; got != failure.KindAuth {
		t.Errorf("the run failed with %s", got)
	}
	if !slices.Equal(c.Trouble.Failed[:3], r.Trouble.Failed[:3]) || c.Trouble.Failed[3] != failure.KindBilling {
		t.Errorf("the clone failed with %v", c.Trouble.Failed)
	}
}
