package failure

import (
	"errors"
	"slices"
	"testing"
)

func TestFormsOf(t *testing.T) {
	for _, tt := range []struct {
		entry string
		is    concept
		want  []string
	}{
		{"provider", ofServer, []string{"providers"}},
		{"access", ofPermission, nil},
		{"busy", isBusy, nil},
		{"exced*", ofQuota, nil},
		{"not valid", isWrong, []string{"isnt valid", "arent valid", "wasnt valid", "werent valid"}},
		{"did not return", isMalformed, []string{"didnt return"}},
		{"cannot find", isGone, []string{"cant find", "can not find"}},
		{"will not", isDenied, nil},
	} {
		if got := formsOf(tt.entry, tt.is); !slices.Equal(got, tt.want) {
			t.Errorf("%q: %q, want %q", tt.entry, got, tt.want)
		}
	}
}

// TestForms checks messages whose words are inflected differently in the tables.
func TestForms(t *testing.T) {
	for message, want := range map[string]Kind{
		"Load balancer error: no healthy providers": KindUnavailable,
		"The key isn’t valid":                       KindAuth,
		"The selected engine doesn’t support tools": KindInvalidRequest,
		"We can not find the model":                 KindModelNotFound,
	} {
		if got := Classify(Evidence{Err: errors.New(message)}).Kind; got != want {
			t.Errorf("%q: %s, want %s", message, got, want)
		}
	}
}

// TestAddressesSayNothing checks messages that would mean something else if the words in addresses,
// or in the name of a library, counted.
func TestAddressesSayNothing(t *testing.T) {
	for message, want := range map[string]Kind{
		"Bad luck, see https://example.com/settings/billing/credits/empty.": KindUnknown,
		"The model is gone. See https://example.com/quota/exceeded. Sorry.": KindModelNotFound,
		"AI_MissingPartError: a part is missing":                            KindUnknown,
		"provider=x model=y error=Invalid URL":                              KindMisconfigured,
		"stream was closed, see https://example.com/docs/rate-limits":       KindStreamInterrupted,
		"Post \"https://example.com/v1/v1/chat/completions\": odd":          KindMisconfigured,
	} {
		if got := Classify(Evidence{Err: errors.New(message)}).Kind; got != want {
			t.Errorf("%q: %s, want %s", message, got, want)
		}
	}
}
