// Package failure says what an error of a model provider means. Any Go program can use it
// alone: it needs the standard library, reads no clock and touches no file.
//
//	f := failure.Classify(failure.Evidence{Status: 429, Body: body, Header: resp.Header})
//	if f.Retryable {
//		time.Sleep(f.RetryAfter.Duration())
//	}
//
// # The thought
//
// Providers tell the same few things in hundreds of ways: this will pass, this will not,
// this needs money, this needs a person. A Failure is one of them, a [Kind], with what an
// agent needs to go on: whether the same request may be sent again, when, and what to tell
// the person who waits. [Classify] is total: any evidence gives one kind, and nothing panics.
// [Diagnose] gives the same with the clues that decided it, for whoever asks why.
//
// # What counts more than what
//
//  1. What the caller saw itself (Evidence.Kind, a Failure in the error's chain): it was there.
//  2. What the transport said: a name that does not resolve is no opinion of a provider's.
//  3. A code in the body that names one cause (insufficient_quota): it was chosen for programs.
//  4. A general type in the body (invalid_request_error): it stands for many causes.
//  5. The HTTP status: proxies set it, too, and it stands for even more.
//  6. Wording: written for people, and changed without notice.
//
// Text that a model wrote or that a tool printed is never evidence.
//
// # Where to look
//
//	kind.go       the kinds, whether each may be tried again, and its stable code
//	failure.go    a Failure and its fields; variant.go, the finer words that only people read
//	evidence.go   what may be known about an error
//	classify.go   from the evidence to a Failure
//	precedence.go the order above; its steps are in pages.go, quota.go and verdict.go
//	reading.go    what they go by, which body.go, status.go and hints.go read of the evidence
//	wording.go    the form of the rules; the tables are codes.go, sentences.go, chinese.go, loose.go
//	causes.go     what a message that no rule knows comes to: what it speaks of, and what it says of
//	              that; lexer.go cuts it into words, lexicon.go knows them in nine languages
//	diagnosis.go  what it was recognised by
//	words.go      the title and the message for people, from the wordings of copy.go
//	words/        what any text goes through before people read it
//	testdata/     real errors with the kinds that are right for them
package failure
