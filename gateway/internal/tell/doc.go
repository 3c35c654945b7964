// Package tell says what happens to a run to clients that know messages and nothing of attempts: it is
// what the rooms of their protocols, aisdk and agui, have in common.
//
// A [Teller] takes what a follower of the run gets and tells a [Listener] what there is to show: each
// piece of text once, a step for each model call, that the text of a step is void when another attempt
// begins, tool calls and results, and how a recovery goes ([Recovery]). What was over before the client
// asked is told without the detours: text that was withdrawn is not shown for a moment.
//
//	t := tell.New(listener, state.Seq, answered)
//	for item := range log.Follow(ctx, run, 0) {
//		if err := t.Item(item, time.Now()); err != nil || t.Over() { … }
//	}
//
// A [Command] is what a client wants of a conversation, whatever its protocol calls that.
//
// It is pure: no clock, no I/O.
package tell
