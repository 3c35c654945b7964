package wire

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mulligan-run/mulligan/failure"
)

// ErrCut is a Decoder's error if the provider says that nothing follows, but there was no terminal
// event.
var ErrCut = errors.New("the answer ended without its terminal event")

// ErrMalformed is in the chain of a Decoder's error if the answer breaks the wire's own rules.
var ErrMalformed = errors.New("the answer breaks the rules of its wire")

// Malformed says which rule was broken: an error with ErrMalformed in its chain.
func Malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrMalformed, fmt.Errorf(format, args...))
}

// ReportedError is a Decoder's error if the provider itself reports an error within the stream.
type ReportedError struct {
	Body []byte       // the event as it came, or the part of it about the error
	Kind failure.Kind // the kind by the wire's rules; "" = the body decides
}

func (e *ReportedError) Error() string { return "the provider reported an error in its answer" }

// IsError reports whether an error member holds an error.
func IsError(member json.RawMessage) bool { return len(member) > 0 && string(member) != "null" }
