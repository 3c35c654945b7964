package failure

import (
	"strings"
	"testing"
)

// TestUnquote: the provider's own words are removed, and everything else of a message stays.
func TestUnquote(t *testing.T) {
	f := Failure{Kind: KindInvalidRequest, Provider: "openai", Detail: "You wrote: canary."}
	f.Describe(Words{})
	if !strings.Contains(f.Message, "canary") {
		t.Fatalf("it quotes nothing: %s", f.Message)
	}
	f.Unquote()
	if f.Detail != "" || strings.Contains(f.Title+f.Message, "canary") || !strings.Contains(f.Message, "Retrying unchanged") {
		t.Errorf("%+v", f)
	}
	missing := Failure{Kind: KindAuth, Provider: "openai", Variant: VariantKeyMissing, Detail: "no API key"}
	missing.Describe(Words{EnvVar: "OPENAI_API_KEY"})
	message := missing.Message
	if missing.Unquote(); missing.Message != message || missing.Detail != "" {
		t.Errorf("%q is %q now", message, missing.Message)
	}
}
