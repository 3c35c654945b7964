package hooks

import "github.com/mulligan-run/mulligan/recovery"

// Occasion is what advice is asked about, with what the advice may depend on: a value of
// one of this package's types. [RunError] is the only one yet.
type Occasion interface {
	// Hook is the hook that is asked: recovery.HookRunError.
	Hook() string
	// For is the occasion as somebody may see it who was granted the transcript, or was not.
	For(transcript bool) Occasion
}

// described says how the occasion of each hook is.
var described = map[string]func(*recovery.Run) Occasion{
	recovery.HookRunError: func(r *recovery.Run) Occasion { return NewRunError(r) },
}

// NewOccasion describes what advice is wanted about now; nil where r.Occasion is "".
func NewOccasion(r *recovery.Run) Occasion {
	if describe := described[r.Occasion().Hook()]; describe != nil {
		return describe(r)
	}
	return nil
}
