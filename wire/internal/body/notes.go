package body

// Noted reads a member by noting what it asks for.
func Noted[R any](note func(r R, what string), what string) func(R, []byte) error {
	return Unless("null", note, what)
}

// Unless reads a member by noting what it asks for, unless its value is the one that asks for
// nothing.
func Unless[R any](nothing string, note func(r R, what string), what string) func(R, []byte) error {
	return func(r R, value []byte) error {
		if string(value) != nothing {
			note(r, what)
		}
		return nil
	}
}
