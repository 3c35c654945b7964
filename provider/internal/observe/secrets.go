package observe

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

const (
	redacted  = "[redacted]"
	minSecret = 6 // bytes; hiding shorter values would only garble the text around them
)

// shapes are secrets that are known by their form.
var shapes = regexp.MustCompile(`\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}|(?i:\bbearer\s+)[A-Za-z0-9._~+/=-]{8,}`)

// Secrets hides known values in whatever leaves an adapter: as they are, and as
// they look in URLs, in JSON and in base64.
type Secrets struct {
	replacer *strings.Replacer
	longest  int
}

// NewSecrets knows the given values.
func NewSecrets(values ...string) *Secrets {
	var forms []string
	for _, value := range values {
		if len(value) >= minSecret {
			forms = append(forms, formsOf(value)...)
		}
	}
	slices.SortFunc(forms, func(a, b string) int { return len(b) - len(a) })
	s := &Secrets{}
	var pairs []string
	for _, form := range slices.Compact(forms) {
		pairs = append(pairs, form, redacted)
		s.longest = max(s.longest, len(form))
	}
	s.replacer = strings.NewReplacer(pairs...)
	return s
}

func formsOf(value string) []string {
	forms := []string{value, url.QueryEscape(value), url.PathEscape(value)}
	if quoted, err := json.Marshal(value); err == nil {
		forms = append(forms, string(quoted[1:len(quoted)-1]))
	}
	for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for offset := range 3 {
			forms = append(forms, within(encoding, value, offset))
		}
	}
	return forms
}

// within is what base64 makes of value when it stands offset bytes after a
// boundary in a longer text, without the characters that its neighbours share.
func within(encoding *base64.Encoding, value string, offset int) string {
	code := encoding.EncodeToString([]byte(strings.Repeat("\x00", offset) + value))
	skip := []int{0, 2, 3}[offset]
	whole := (offset + len(value)) * 8 / 6
	return code[skip:whole]
}

// Text hides what is secret in s.
func (s *Secrets) Text(text string) string {
	return shapes.ReplaceAllString(s.replacer.Replace(text), redacted)
}

// Header hides what is secret in a copy of h.
func (s *Secrets) Header(h http.Header) http.Header {
	h = h.Clone()
	for _, values := range h {
		for i := range values {
			values[i] = s.Text(values[i])
		}
	}
	return h
}

// Error hides what is secret in err's text; an err without secrets is returned as it is.
func (s *Secrets) Error(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	if clean := s.Text(text); clean != text {
		return errors.New(clean) // the original holds the secret: it goes no further
	}
	return err
}

// body hides what is secret in the beginning of a body, and what may be the
// first half of a secret at its end if it was cut there.
func (s *Secrets) body(raw []byte, cut bool) []byte {
	clean := []byte(s.Text(strings.ToValidUTF8(string(raw), "\uFFFD")))
	if cut {
		clean = clean[:max(0, len(clean)-s.longest)]
	}
	return clean[:min(len(clean), maxErrorBody)]
}
