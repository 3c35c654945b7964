package config

import (
	"slices"
	"strings"
	"testing"
)

// TestSecrets: what a configuration names is known, whatever its variables are called.
func TestSecrets(t *testing.T) {
	c := &Config{
		Providers: map[string]Provider{"a": {KeyEnv: "A"}, "b": {}, "c": {Proxy: "http://me:of-proxy@127.0.0.1:1"}, "d": {Proxy: "none"}},
		Webhooks:  []Webhook{{SecretEnv: "HOOK"}, {SecretEnv: "UNSET"}},
		Store:     "postgres://me:of-store@127.0.0.1/runs?sslpassword=of-tls",
	}
	env := map[string]string{"A": "of-a", "HOOK": "of-hook", "PGPASSWORD": "of-pg"}
	got := c.Secrets(func(name string) string { return env[name] })
	for _, want := range []string{"of-a", "of-hook", "of-store", "of-pg", "of-tls", "of-proxy"} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is not in %q", want, got)
		}
	}
	if slices.Contains(got, "") {
		t.Errorf("%q", got)
	}
	(&Config{}).Secrets(func(string) string { return "" })
}

// TestPasswordsBesideTheirPlace: a password with a character that an address reads as something else is
// refused before a part of it is taken for a host, and shown as one.
func TestPasswordsBesideTheirPlace(t *testing.T) {
	for _, wrong := range []string{"postgres://me:p@of-me@h:1/db", "postgres://me:12?of-me@h/db", "postgres://me:12#of-me@h/db", "postgres://me:12/of-me@h/db"} {
		if err := new(Config).SetStore(wrong); err == nil || !strings.Contains(err.Error(), "%40") || strings.Contains(err.Error(), "of-me") {
			t.Errorf("%s: %v", wrong, err)
		}
	}
	for _, right := range []string{"postgres://me:p%40of-me@h:1/db?sslmode=require", "postgres://me@h/db", "postgres://h/db?user=me@there&password=a@b", "postgres://h", ""} {
		if err := new(Config).SetStore(right); err != nil {
			t.Errorf("%s: %v", right, err)
		}
	}
}
