package observe

import (
	"errors"
	"net/http"
	"regexp"
	"strings"

	"github.com/mulligan-run/mulligan/internal/redact"
)

// shapes matches secrets by their form.
var shapes = regexp.MustCompile(`\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}|(?i:\bbearer\s+)[A-Za-z0-9._~+/=-]{8,}`)

// unshaped is text without what matches shapes. The expression is searched only where a part of all
// that it matches is there, because it costs as much as all else that is done with a short text.
func unshaped(text string) string {
	if !strings.Contains(text, "k-") && !hasBearer(text) {
		return text
	}
	return shapes.ReplaceAllString(text, redact.Mark)
}

// hasBearer reports whether text contains "bearer", in any case.
func hasBearer(text string) bool {
	const word = "bearer"
	for len(text) >= len(word) {
		at := strings.IndexAny(text, "bB")
		if at < 0 || len(text)-at < len(word) {
			return false
		}
		if strings.EqualFold(text[at:at+len(word)], word) {
			return true
		}
		text = text[at+1:]
	}
	return false
}

// Secrets hides known secrets, and what looks like one, in a provider's words about a failure.
type Secrets struct{ known *redact.Known }

// NewSecrets knows the given values.
func NewSecrets(values ...string) *Secrets { return SecretsOf(redact.New(values...)) }

// SecretsOf knows everything in known, including what is added later.
func SecretsOf(known *redact.Known) *Secrets { return &Secrets{known} }

// Text hides the secrets in text.
func (s *Secrets) Text(text string) string {
	return unshaped(s.known.Text(text))
}

// Header hides the secrets in a copy of h.
func (s *Secrets) Header(h http.Header) http.Header {
	h = h.Clone()
	for _, values := range h {
		for i := range values {
			values[i] = s.Text(values[i])
		}
	}
	return h
}

// Error hides the secrets in err's text; an error without secrets is returned as it is.
func (s *Secrets) Error(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	if clean := s.Text(text); clean != text {
		return errors.New(clean) // the original contains the secret and must not be wrapped
	}
	return err
}

// body hides the secrets in the beginning of a body and, if it was cut, what may be the first
// half of a secret at its end.
func (s *Secrets) body(raw []byte, cut bool) []byte {
	stream := s.known.Stream()
	clean := stream.Push(strings.ToValidUTF8(string(raw), "\uFFFD"))
	if !cut {
		clean += stream.Flush()
	}
	clean = unshaped(clean)
	return []byte(clean[:min(len(clean), maxErrorBody)])
}
