package hooks

import "github.com/mulligan-run/mulligan/recovery"

// Occasion is what advice is asked about, with everything that the advice may depend on. It is a
// [RunError], [BeforeCall], [ToolError] or [RunEnded].
type Occasion interface {
	// Hook names the hook that is asked, such as recovery.HookRunError.
	Hook() string
	// For is the occasion as a plugin gets it that was, or was not, granted the transcript.
	For(transcript bool) Occasion
}

// described has, for each hook about a run's open failure, the function that makes its occasion.
var described = map[string]func(*recovery.Run) Occasion{
	recovery.HookRunError: func(r *recovery.Run) Occasion { return NewRunError(r) },
}

// NewOccasion describes the failure that advice is wanted about now; nil if r.Occasion is "".
func NewOccasion(r *recovery.Run) Occasion {
	if describe := described[r.Occasion().Hook()]; describe != nil {
		return describe(r)
	}
	return nil
}
