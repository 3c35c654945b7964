package schema

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// Limits on an error's text.
const (
	maxProblems = 10
	maxProblem  = 200 // bytes
)

// Invalid says what a schema has against a value.
type Invalid struct {
	Problems []string // 1 to 10, at most 200 bytes each: "at /city: got number, want string"
}

func (e *Invalid) Error() string { return strings.Join(e.Problems, "; ") }

// explain makes an Invalid from the library's error, also for an invalid schema.
func explain(err error) error {
	var document *jsonschema.SchemaValidationError
	if errors.As(err, &document) {
		return fmt.Errorf("it is not a valid JSON Schema: %w", explain(document.Err))
	}
	var wrong *jsonschema.ValidationError
	if !errors.As(err, &wrong) {
		return err
	}
	e := &Invalid{}
	e.collect(wrong, message.NewPrinter(language.English))
	return e
}

// collect adds the errors without causes, which are the informative ones.
func (e *Invalid) collect(wrong *jsonschema.ValidationError, printer *message.Printer) {
	if len(e.Problems) == maxProblems {
		return
	}
	if len(wrong.Causes) == 0 {
		e.Problems = append(e.Problems, cut(place(wrong.InstanceLocation)+wrong.ErrorKind.LocalizedString(printer)))
	}
	for _, cause := range wrong.Causes {
		e.collect(cause, printer)
	}
}

// place is a JSON pointer; the whole value needs none.
func place(path []string) string {
	if len(path) == 0 {
		return ""
	}
	var pointer strings.Builder
	for _, part := range path {
		pointer.WriteByte('/')
		pointer.WriteString(strings.NewReplacer("~", "~0", "/", "~1").Replace(part))
	}
	return "at " + pointer.String() + ": "
}

func cut(text string) string {
	if len(text) <= maxProblem {
		return text
	}
	end := maxProblem - len("…")
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}
