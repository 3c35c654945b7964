package pi

import (
	"slices"
	"strings"
	"testing"
)

// TestProxyOfTheEnvironment: Pi finds the proxy that we do, but for what it asks of ours on this
// machine, and the proxy's password is a secret.
func TestProxyOfTheEnvironment(t *testing.T) {
	t.Setenv("HTTPS_PROXY", "http://u:hidden-w0rd@corp.example:3128")
	t.Setenv("NO_PROXY", "example.org")
	env, secrets := Config{}.environment()
	if !slices.Contains(env, "HTTPS_PROXY=http://u:hidden-w0rd@corp.example:3128") || !slices.Contains(env, "NO_PROXY=example.org") {
		t.Error("Pi does not get the proxy")
	}
	if !slices.Contains(secrets, "hidden-w0rd") {
		t.Errorf("the secrets are %d others", len(secrets))
	}
	if got := strings.Join(directly(env), " "); got != "NO_PROXY=127.0.0.1,example.org no_proxy=127.0.0.1" {
		t.Error(got)
	}
}
