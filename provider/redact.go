package provider

import (
	"regexp"

	"github.com/mulligan-run/mulligan/provider/internal/observe"
)

// pasted are secrets that an adapter never meets in an answer, but that people paste
// along with one: keys of other services, and whatever is assigned to the name of one.
// The first group is kept.
var pasted = regexp.MustCompile(`\b(?:AIza|AKIA|ASIA|gsk_|xai-|hf_|gh[oprsu]_|glpat-)[A-Za-z0-9_-]{12,}` +
	`|\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}` +
	`|((?i:api[-_ ]?key|access[-_]?token|client[-_]?secret|password|[?&]key)["']?[:=] *["']?)[^\s"'&,;{}\[\]]{8,}`)

// Redact hides what looks like a secret in text that somebody pasted, and the known
// values wherever and however they stand in it.
func Redact(text string, known ...string) string {
	text = observe.NewSecrets(known...).Text(text)
	return pasted.ReplaceAllString(text, "${1}[redacted]")
}
