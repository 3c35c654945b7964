package protoconv

import (
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/hooks"
)

type another struct{}

func (another) Hook() string            { return "another" }
func (another) For(bool) hooks.Occasion { return another{} }

// TestAskAboutSomethingElse: an occasion that the wire cannot express gives no opinion, with the
// reason.
func TestAskAboutSomethingElse(t *testing.T) {
	answer, err := Ask(t.Context(), nil, another{})
	if err != nil {
		t.Fatal(err)
	}
	if vote, err := answer(); err == nil || !strings.Contains(err.Error(), "another") || vote.Action != "" {
		t.Errorf("%+v, %v", vote, err)
	}
}
