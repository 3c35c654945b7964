// Package runner is the shell around the heart: it drives runs.
//
// A [Runner] holds what runs share: models, tools, hooks, the timeline, the
// policy. Four verbs start a run's loop or speak to it (start.go, resume.go): [Runner.Start],
// [Runner.Resume], [Runner.Recover] and [Runner.Cancel]. The first three give a
// [Run], whose Events follow the timeline and whose Wait settles:
//
//	r := runner.New(runner.WithModel("anthropic/claude", model), runner.WithAutoRecover(true))
//	run, err := r.Start(ctx, runner.Request{Prompt: "What is the weather in Oslo?"})
//	for item, err := range run.Events() { … }
//	result, err := run.Wait(ctx)
//
// [Runner.Do] is Start and Wait in one, for whoever does nothing else meanwhile, and
// [Runner.Run] is that for a prompt. They make the first call of most models on their own goroutine
// (launch.go).
//
// The loop (loop.go) is one goroutine per run and the only writer of its log:
//
//	for !settled {
//		wanted := recovery.Next(run)  // what should be going on
//		write records, or: start and stop the difference to what is in the air
//		message := <-mailbox          // a result, a vote, an expired timer, a command
//		append its event; apply it
//	}
//
// Before anything starts, gates.go is asked what keeps it from that: another call that has not
// ended, a provider with too much to do, the day's budget (day.go), a computer that slept,
// hooks on trial (shadow.go). An attempt that goes on from what another one said is continuing.go, one
// that is asked in another way, since its provider refused the first, refused.go. How the loop begins and ends is launch.go, what is in the air
// effects.go, what other processes ask of it commands.go.
//
// Nothing blocks it: model calls (attempt.go, under the clocks of watchdog.go, their
// text saved as often as tails.go says; verdict.go says whether what was heard is an answer), tools (tools.go; those that an engine runs by itself: engine.go), plugins (ask.go)
// and waits run beside it and answer through the mailbox. Intent is durable before an effect
// starts (that of the first call with the run's beginning, in one step: opening.go), and its
// result before anything follows from it. A run that stopped anywhere, also by a crash, goes
// on by folding its log and asking Next.
//
// A run with a Session continues the last run of that session (session.go), and has its
// conversation in front of its own messages. A long run, and a long conversation, are read
// from snapshots and the events since (fold.go), so that a step costs as much late in a run
// as early.
//
// Tools may also be carried out by whoever starts a run (callertools.go): Request.CallerTools
// declares them, the run waits, be it parked, and [Runner.ReturnResults] gives their results.
//
// A model call that another program makes is a run as well (caller.go): Request.Call brings
// what it asks, the run ends with its first answer, and the caller gets each delta as it comes.
// Which model a conversation of such calls went to is stays.go.
//
// A model call that another program makes itself, and asks what to do about when it has failed, is
// a run whose events are written in one step for each question (advise.go; advice_draft.go has what is written).
//
// A failed run is an [*Error], which unwraps to its [failure.Failure] and has the
// open suggestion, if there is one.
package runner
