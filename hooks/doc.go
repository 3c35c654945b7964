// Package hooks asks for advice.
//
// A [Hook] is anything that can look at an [Occasion], such as a failure (a [RunError]), and
// say what it would do: a plugin process, or a Go function in a test. [Dispatch] asks them side by side,
// each under its own deadline, and hands every answer over as a
// [recovery.Vote] as soon as it is known:
//
//	hooks.Dispatch(ctx, asked, hooks.NewOccasion(run), hooks.Deadlines{}, func(v recovery.Vote) {
//		// append Voted; recovery.Decide weighs the votes once all are in
//	})
//
// What a hook does cannot harm its caller: an error, a panic, silence past the
// deadline and rubbish in the reply all become a vote without an opinion whose
// Error says why. A vote is advice and nothing more; which one wins is the
// business of package recovery.
package hooks
