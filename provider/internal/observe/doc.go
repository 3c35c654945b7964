// Package observe asks a model provider over HTTP and sees exactly how that went.
//
// [New] makes a [Client] for one configured provider. [Client.Stream] sends one
// request and yields what a wire's [wire.Decoder] makes of the events it streams back:
//
//	client, err := observe.New(observe.Config{Provider: "anthropic", BaseURL: "https://api.anthropic.com"})
//	…
//	client.Stream(ctx, func() (observe.Ask, error) { … })
//
// [Watch] sees a request go by that somebody else's client makes. Both paths show
// what they see to one observation (observation.go).
//
// # What a client never does
//
// It follows no redirect, keeps no cookie, retries nothing, has no clock but the
// one of its connecting (the runner owns the others), takes a proxy from its
// configuration only, and checks at each dial where it is about to connect
// (guard.go). Sizes are capped: 1 MiB of headers, 4 MiB of a line or an event, 64
// MiB of an answer, 64 KiB of an error body.
//
// # As it came
//
// Where Ask.Frames says so, the answer is told as it came, too (frame.go): its head, then
// each event before what that means, or a document. Nobody else pays for that.
//
// # What becomes of a failure
//
// Whatever goes wrong is gathered as failure.Evidence (what the transport said,
// how far the attempt had come, status, headers, the raw body, all without
// secrets) and failure.Classify names it. Only the caller's own cancellation is
// passed on as it is. An answer succeeds by the wire's terminal event and by
// nothing else.
package observe
