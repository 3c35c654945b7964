package hooks

import "github.com/mulligan-run/mulligan/recovery"

// Occasion is what advice is asked about, with everything the advice may depend on: a value of
// one of this package's types: [RunError], [BeforeCall], [ToolError] or [RunEnded].
type Occasion interface {
	// Hook names the hook that is asked, such as recovery.HookRunError.
	Hook() string
	// For is the occasion for a plugin that was granted the transcript, or was not.
	For(transcript bool) Occasion
}

// described makes the occasion of each hook that is about a run's open failure.
var described = map[string]func(*recovery.Run) Occasion{
	recovery.HookRunError: func(r *recovery.Run) Occasion { return NewRunError(r) },
}

// NewOccasion describes the failure that advice is wanted about now; nil where r.Occasion is "".
func NewOccasion(r *recovery.Run) Occasion {
	if describe := described[r.Occasion().Hook()]; describe != nil {
		return describe(r)
	}
	return nil
}
