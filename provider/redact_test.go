package provider_test

import (
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/provider"
)

func TestRedactHidesWhatLooksLikeASecret(t *testing.T) {
	const canary = "Xy7canary0canary1canary2"
	for _, text := range []string{
		"Incorrect API key provided: sk-" + canary,
		"authorization: Bearer " + canary,
		`{"headers":{"x-api-key":"` + canary + `"}}`,
		"x-api-key: " + canary,
		"POST https://example.com/v1beta/models?alt=sse&key=" + canary + "&x=1",
		"AIza" + canary, "gsk_" + canary, "AKIA" + canary, "ghp_" + canary,
		"eyJhbGciOiJIUzI1NiJ9." + canary + "." + canary,
		"client_secret=" + canary,
	} {
		if got := provider.Redact(text); strings.Contains(got, "canary") || !strings.Contains(got, "[redacted]") {
			t.Errorf("%q became %q", text, got)
		}
	}
	if got := provider.Redact("it said: opensesame%21", "opensesame!"); strings.Contains(got, "opensesame") {
		t.Errorf("a known value as it looks in a URL: %q", got)
	}
}

func TestRedactKeepsWhatIsSaid(t *testing.T) {
	for _, text := range []string{
		`{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"},"request_id":"req_0123456789abcdef"}`,
		"Incorrect API key provided: sk-ab***********yz. You can find it at https://platform.openai.com/account/api-keys.",
		"API key not valid. Please pass a valid API key.",
		"Please try again in 9.816s. Visit https://example.com/?keys=1",
	} {
		if got := provider.Redact(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}
