package provider

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mulligan-run/mulligan/failure/words"
)

// maxName is the longest full name of a model, in bytes.
const maxName = 256

// CheckName says what is wrong with the full name of a model, whose form is "provider/model". It is shown to
// people, and counted by, so it has nothing that is not seen.
func CheckName(full string) error {
	name, model, ok := strings.Cut(full, "/")
	if !ok || name == "" || model == "" {
		return fmt.Errorf("model needs the form provider/model, not %q", words.Clip(full, maxName))
	}
	if len(full) > maxName || !utf8.ValidString(full) || strings.ContainsFunc(full, func(r rune) bool { return r == ' ' || !unicode.IsPrint(r) }) {
		return fmt.Errorf("model %q: its name has at most %d bytes, all of them characters that are seen", words.Clip(full, maxName), maxName)
	}
	return nil
}
