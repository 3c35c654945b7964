package config

import (
	"slices"
	"testing"
)

// TestSecrets: what a configuration names is known, whatever its variables are called.
func TestSecrets(t *testing.T) {
	c := &Config{
		Providers: map[string]Provider{"a": {KeyEnv: "A"}, "b": {}, "c": {Proxy: "http://me:of-proxy@127.0.0.1:1"}, "d": {Proxy: "none"}},
		Webhooks:  []Webhook{{SecretEnv: "HOOK"}, {SecretEnv: "UNSET"}},
		Store:     "postgres://me:of-store@127.0.0.1/runs?sslpassword=of-tls",
	}
	env := map[string]string{"A": "of-a", "HOOK": "of-hook"}
	got := c.Secrets(func(name string) string { return env[name] })
	for _, want := range []string{"of-a", "of-hook", "of-store", "of-tls", "of-proxy"} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is not in %q", want, got)
		}
	}
	if slices.Contains(got, "") {
		t.Errorf("%q", got)
	}
	(&Config{}).Secrets(func(string) string { return "" })
}
