package provider

import (
	"regexp"

	"github.com/mulligan-run/mulligan/provider/internal/observe"
)

// pasted matches secrets that an adapter never sees in an answer, but that people may paste
// together with one: keys of other services, and values assigned to a name that sounds like a
// secret. The first group is kept.
var pasted = regexp.MustCompile(`\b(?:AIza|AKIA|ASIA|gsk_|xai-|hf_|gh[oprsu]_|glpat-)[A-Za-z0-9_-]{12,}` +
	`|\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}` +
	`|((?i:api[-_ ]?key|access[-_]?token|client[-_]?secret|password|[?&]key)["']?[:=] *["']?)[^\s"'&,;{}\[\]]{8,}`)

// Redact hides what looks like a secret in text that a person pasted, and the known values in every
// form in which they may occur.
func Redact(text string, known ...string) string {
	text = observe.NewSecrets(known...).Text(text)
	return pasted.ReplaceAllString(text, "${1}[redacted]")
}
