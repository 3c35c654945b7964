package body

// Noted makes a reader that notes what a member asks for.
func Noted[R any](note func(r R, what string), what string) func(R, []byte) error {
	return Unless("null", note, what)
}

// Unless makes a reader that notes what a member asks for, unless its value is nothing, the one
// that asks for nothing.
func Unless[R any](nothing string, note func(r R, what string), what string) func(R, []byte) error {
	return func(r R, value []byte) error {
		if string(value) != nothing {
			note(r, what)
		}
		return nil
	}
}
