// Package conformance says whether a plugin, and the SDK that it is made with, live
// up to docs/plugin-protocol.md.
//
//	p, err := conformance.Start(ctx, conformance.Command{Args: []string{"./my-plugin"}}, true)
//	for _, talk := range talks { // conformance.Talks()
//		err = p.Play(ctx, talk)
//	}
//	err = p.Close()
//
//	for _, check := range conformance.Checks {
//		err = check.Run(ctx, command, true)
//	}
//
//	exam := conformance.Exam{Command: command, Report: func(r conformance.Result) { … }}
//	portrait, err := exam.Hold(ctx)
//
// A [Check] is about the process: its handshake, TLS, streams and end. Most of them
// are demanded of any plugin. A [Talk] is a question and the answer to it; only a
// conformance plugin, which every SDK has among its tests, can give those: it obeys
// the commands that the events bring. README.md is their grammar, talks/ has the
// talks. An [Exam] is for any plugin: the checks that need no commands, questions to
// which every valid answer will do, and bounds.
//
// The package shares no code with the host and the SDKs that it judges, except the
// generated messages and the host's own check of an answer.
package conformance
