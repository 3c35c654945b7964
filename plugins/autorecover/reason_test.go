package autorecover

import (
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/failure"
)

// TestAMissingKeyWasNotRefused: nothing was sent, so nobody refused anything.
func TestAMissingKeyWasNotRefused(t *testing.T) {
	for variant, want := range map[string]string{"": "gpt-5.2 refused the key", failure.VariantKeyMissing: "gpt-5.2 has no key"} {
		in := Input{Failure: failure.Failure{Kind: failure.KindAuth, Variant: variant}, Model: "openai/gpt-5.2"}
		if got := in.happened(); !strings.HasPrefix(got, want) {
			t.Errorf("%q: %q", variant, got)
		}
	}
}
