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
// A specific code beats a general type, what the body says of itself beats the status, and both
// beat loose words. Step by step (precedence.go), each with the reason why it stands before the
// next:
//
//  1. A Failure in the error's chain: somebody who knew more has decided. It is taken as it is.
//  2. What the adapter saw (Evidence.Kind): its own timer, a refused connection. It was there;
//     all else only tells of it.
//  3. A page: a log-in, a bot check, a web server that knows no such path. No provider said this,
//     so that nothing in it is a provider's word.
//  4. The figures of a quota: identifiers and delays beside a limit tell a day that is used up
//     from a minute, which the code and the sentence beside them call the same.
//  5. Exact words: the few sentences for which the provider has a code that means something else
//     ("your organization must be verified" comes as model_not_found).
//  6. A code that names one cause (insufficient_quota): it was chosen for programs, and is kept
//     when sentences are written anew.
//  7. A sentence that names one cause: general codes stand for many, and it tells which.
//  8. The words of a code that no table has (BILLING_PAUSED): a name for one thing, though we
//     never saw it, says more than one for many.
//  9. A general code (rate_limit_error, authentication_error): still chosen by the provider, and for
//     less than a status stands for. A code of a limit says which only where the words do not: of a day
//     or a month.
//  10. Why it was refused: a cause that the words come to, over those statuses and codes alone that
//     say less (a 400, a 429 or a 503, also one that the message tells of, or a server_error, to "wallet
//     is empty").
//  11. A code that says no more than a status of 500 does (server_error): its server chose it, where
//     the status may be that of a proxy.
//  12. The HTTP status: proxies set it, too, but it is a number from a list, and not prose.
//  13. A code that says no more than a status of 400 does: only where there is no status.
//  14. An empty answer: it ended as it should, and nothing else was wrong with it.
//  15. A status in the message: who passes a failure on with its number knew the number.
//  16. Loose words ("timed out", "rate limit"): the transport's, or whoever passed it on with
//     nothing else; they are exact as far as they go.
//  17. A cause in any words: what they speak of and what they say of it, in ten languages and in the
//     commonest words of twenty more. It reads sentences that nobody has seen before, so it errs
//     more than what is known.
//  18. The name of a wrapper (BadRequestError, "stream disconnected before completion"): whoever put it
//     around another error knew less than that error says.
//  19. How it ended: an error without words, an answer that is none.
//
// What no step knows is [KindUnknown], which is tried again once: a guess would be worse. A
// Diagnosis says how sure its step is, and what the next one says that is of another opinion.
//
// A message is read without what programs put around it in passing it on: heads that say no more than
// that something failed ("Agent run failed: LLM request error: "), ids of requests, a terminal's colours,
// lines that a narrow window broke.
//
// Text that a model wrote or that a tool printed is never evidence, and neither is what a sentence
// denies ("this is not a rate limit").
//
// Above all of these stands what somebody knows better of the providers that they use: a
// [Local] is a table of such rows, and classifies as this package does where none of them
// fits.
//
// # Where to look
//
//	kind.go       the kinds, whether each may be tried again, and its stable code
//	failure.go    a Failure and its fields; variant.go, the finer words that only people read
//	evidence.go   what may be known about an error
//	classify.go   from the evidence to a Failure
//	precedence.go the order above; its steps are in pages.go, quota.go and verdict.go
//	reading.go    what they go by, which body.go, status.go and hints.go read of the evidence
//	bare.go       a message without what programs add to it; frame.go, the heads that say nothing
//	wording.go    the form of the rules; the tables are codes.go, sentences.go, chinese.go, loose.go
//	causes.go     what a message that no rule knows comes to: what it speaks of, and what it says of
//	              that; lexer.go and clauses.go cut it into words, lexicon.go finds in meanings.go
//	              and, in the forms of forms.go, what they mean (word_table.go finds a word); languages.go, languages_central.go, languages_east.go and languages_south.go have the
//	              commonest of twenty languages more
//	sizes.go      the figures of a request that is too long, in whatever words they are told
//	diagnosis.go  what it was recognised by
//	local.go      somebody's own rows above all of this; local_words.go, how their words are compared,
//	              and which row a failure would be known by
//	words.go      the title and the message for people, from the wordings of copy.go; placeholders.go,
//	              what those may mention
//	words/        what any text goes through before people read it
//	testdata/     real errors with the kinds that are right for them; ports.jsonl holds the ports to
//	              Python and TypeScript to this package (make ports, docs/failure.md)
package failure
