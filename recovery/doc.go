// Package recovery is the heart of Mulligan: what happened to a run, what that
// amounts to, and what should be going on now. It reads no clock, throws no dice
// and touches no file; whatever a decision depends on is in an event, so a log
// comes to the same decisions whenever and wherever it is read.
//
// # The thought
//
// A recovery engine is a ledger and a question. Three things are all there is:
//
//	Event   one thing that happened to a run    event.go, stored as codec.go says
//	Run     what its events amount to           run.go, apply.go: Fold, Apply
//	Next    what should be going on now         next.go, effect.go: Effects, each with a key
//
// A shell is a loop around them. It starts the effects that are wanted and not yet
// in flight, stops those in flight that are not wanted any more, and turns the
// next thing it hears into an event:
//
//	for {
//		effects := recovery.Next(run)
//		if len(effects) == 0 {
//			return // the run has ended, or waits for its store
//		}
//		if body := effects[0].Record; body != nil {
//			apply(appendToLog(body)) // nothing else is wanted until it is written
//			continue
//		}
//		inFlight.startAndStop(effects) // by key; each writes its intent before it starts
//		apply(appendToLog(<-mailbox))  // a result, a vote, a timer, a person's command
//	}
//
// Running and resuming are this same loop: a crash is a loop that stopped. The new
// owner folds the log, writes Claimed, and asks Next. What was in the air then is
// interrupted: a model call is tried again if the votes say so, a tool call only
// if its tool is read-only or idempotent (see Safety); else its result is "unknown".
//
// # What a shell owes
//
//   - Began and ToolBegan are durable before the call starts, its result before
//     anything follows from it.
//   - Claimed follows Started directly, and is the first event of every later owner.
//   - Every event's time is not before that of the event it follows. A timer's Due
//     is written no earlier than the timer says.
//   - A Failed that Next wants written gets the facts that only a shell knows:
//     alternatives and cooldowns.
//   - A call that Next does not want any more is stopped. A stopped tool call has
//     an unknown outcome, which is written as its ToolReturned.
//   - A person's answer is written as what Answering gives, in one append: of one that cuts
//     a call short that is the call's Failed, and then the Accepted. One that comes too late
//     is a Noted: whoever sent it learns from the log what became of it.
//   - A shell that stops in good order ends the attempt in the air with what HandOver gives.
//   - A tool that panics is a ToolReturned with an error, and then a Failed with its
//     CallID: the model goes on, unless a plugin says otherwise.
//   - Appending is refused to an owner whose epoch is not the latest.
//   - A run that Continues another is given what was said there, by Carry.
//
// # From a failure to its answer
//
//	            Began                     Answered
//	┌─────────────────────────► calling ───────────► tools, or Ended(completed)
//	│                              │
//	│                              │ Failed, with its facts           package failure
//	│                              ▼
//	│                           asking     Voted, one per plugin                    vote.go
//	│                              │
//	│                              │ Decided, by Decide alone                     decide.go
//	│                              ▼
//	│ autoRecover, no limit    ┌───┴───────────┬──────────────────┐
//	├──────────────────────────┤ retry, switch │ fail             │ no opinion
//	│  (Waiting, then Due)     │               ▼                  ▼
//	│                          │           Suggested ─────► Ended(failed)
//	│                          │ autoRecover=false, or a limit  ▲
//	│                          ▼                                │
//	│      Accepted        Suggested                            │
//	└──────────────────── (recoverable) ──── stopped, Due ──────┘   offer.go, suggestion.go, accept.go
//
// From everywhere CancelRequested leads to Ended(cancelled). A Vote is advice, a
// Decision is law, and Decide is the only way from one to the other. Without
// autoRecover the decision is the same; it is offered rather than carried out.
//
// The statuses that follow from it:
//
//	running ◄──► waiting          a live wait, or the store        Waiting, Paused
//	   │  ▲
//	   │  └──────── failed        recoverable: a suggestion is open
//	   ▼               ▼
//	completed     failed, cancelled        for good                  Ended
//
// # A session
//
// A session is a list of runs, each of which Continues the one before it up to the head
// where that ended. Nothing is copied: the events of a run have its own messages only, and
// its shell puts the Conversation of the run before in front of them (Carry), which has
// that of the run before that. Started pins the head, so this comes to the same transcript
// in every process; requests, plugins and what shortens a conversation see the whole of it.
// Compacted gives the run a beginning of its own, and with it all runs that follow. Whoever
// only shows a run needs no Carry: everything but the transcript is the same without.
//
// A conversation may be long, and so may a run. A Snapshot is a run as it is after an event,
// so that only the events since are folded; it has what was carried, or leaves it out.
//
// # Where else to look
//
//	call.go       a model call, its attempts, and what events make of them; tool.go, a tool call
//	open_failure.go  the failure at hand, until something is done about it
//	clocks.go     the run's own timers
//	policy.go     what a run may do; the limits that hold whatever a plugin says
//	caller.go     a call that another program makes: a run that ends with its first answer
//	advised.go    a call that another program makes itself, and asks what to do when it has failed
//	limits.go     the way that every call of a model comes through, where those limits are asked
//	cause.go      what a run goes by of its failures, apart from what they say of themselves
//	line.go       what people read of an event; what they read of a failure is package failure's
//	situation.go  what a person should see of a run and can do, as times and words, for every client;
//	              situation_card.go, of a failure; held.go, why it does not go on
//	testdata/     stories: a world, the events it comes to, and what Next wants after each
//	crash_test.go the proof: stopped before every event, every story ends as it would have
package recovery
