// Package advice is the door for programs that make their model calls themselves, in whatever
// language: where one has failed, they ask what to do about it.
//
// A [Question] has what such a program knows of the failure, an [Reply] what went wrong, what
// to do, and the buttons for a person; an [Outcome] says how the call went on. A [Desk] takes
// them to the core, which asks the same plugins under the same limits as for any run, and keeps
// each call as a run of the timeline:
//
//	desk := &advice.Desk{Runs: runner, Classify: failure.Classify}
//	answer, err := desk.Decide(ctx, caller, question)
//	if answer.Acts() {
//		// wait answer.Decision.Delay, then call again: answer.Decision.NewModel, where there is one
//	}
//
// The gateway serves it as POST /v1/decide and POST /v1/outcome; [Desk.Register] is the gRPC service
// mulligan.v1.Advice, with the same words. Nothing here decides anything.
//
//	question.go  what is asked, and its bounds
//	evidence.go  what a failure is known by
//	reply.go     what is answered
//	desk.go      from the one to the other
//	rpc.go       the same by gRPC; proto.go has the words
package advice
