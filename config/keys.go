package config

import (
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/mulligan-run/mulligan/provider"
)

// Hidden hides what looks like a secret, and the keys of the environment.
func Hidden(text string) string { return provider.Redact(text, OwnKeys()...) }

// OwnKeys are the values of environment variables that are keys by their name and length, and the
// logins of its proxies.
func OwnKeys() []string {
	const least = 12
	var keys []string
	for _, variable := range os.Environ() {
		name, value, _ := strings.Cut(variable, "=")
		name = strings.ToUpper(name)
		if len(value) >= least && (strings.HasSuffix(name, "_KEY") || strings.HasSuffix(name, "_TOKEN")) {
			keys = append(keys, value)
		}
		if strings.HasSuffix(name, "_PROXY") {
			keys = append(keys, provider.ProxySecrets(value)...)
		}
	}
	return keys
}

// Secrets are the secrets that the configuration names: the keys of its providers, the secrets of its
// webhooks and the password of its database, but for one in a file.
func (c *Config) Secrets(env func(string) string) []string {
	var all []string
	named := func(variable string) {
		if variable != "" {
			all = append(all, env(variable))
		}
	}
	for _, p := range c.Providers {
		named(p.KeyEnv)
		all = append(all, provider.ProxySecrets(p.Proxy)...)
	}
	for _, w := range c.Webhooks {
		named(w.SecretEnv)
	}
	if c.Store != "" {
		named("PGPASSWORD")
	}
	if u, err := url.Parse(c.Store); err == nil {
		password, _ := u.User.Password()
		all = append(all, password, u.Query().Get("password"), u.Query().Get("sslpassword"))
	}
	return slices.DeleteFunc(all, func(secret string) bool { return secret == "" })
}
