package exit

import (
	"errors"
	"fmt"
)

// Exit codes.
const (
	CodeFailed     = 1   // the run failed, or the command did
	CodeUsage      = 2   // wrong arguments, a bad config, an unknown model
	CodeSuggestion = 3   // the run failed and its suggestion is open
	CodeCancelled  = 130 // stopped by a person
	CodeTerminated = 143 // SIGTERM; what was driven can be resumed
)

// Error is an error with an exit code. If Err is nil, the error was already printed.
type Error struct {
	Code int
	Err  error
}

func (e *Error) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit %d", e.Code)
	}
	return e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// Usage marks an error as the caller's: exit code 2.
func Usage(err error) error {
	if err == nil {
		return nil
	}
	return &Error{CodeUsage, err}
}

// Usagef is Usage of an error that is made of a format.
func Usagef(format string, args ...any) error { return Usage(fmt.Errorf(format, args...)) }

// Of is the exit code of a command that ended with err. An error without a code comes from a
// library and is the caller's mistake.
func Of(err error) int {
	coded := (*Error)(nil)
	switch {
	case err == nil:
		return 0
	case errors.As(err, &coded):
		return coded.Code
	}
	return CodeUsage
}
