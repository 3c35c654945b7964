package config

import (
	"os"
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
