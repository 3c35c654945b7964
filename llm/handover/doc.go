// Package handover makes a conversation fit for the model that is asked next, which
// need not be the one that spoke before.
//
// [Transcript] is a pure function. It drops what only another model may see again,
// gives tool calls ids that the target's wire takes, puts each result right after
// its call (an error in the place of one that is missing), lets the two sides take
// turns where the target wants that, and says what it changed:
//
//	told, err := handover.Transcript(request.Messages, handover.Target{Model: request.Model, MaxID: 64})
//	// send told.Messages; tell people told.Repairs
//
// Whatever comes in, what goes out holds for every target: each tool call has one
// result and each result its call; ids are legal and unique; no foreign reasoning
// or signature is left; and every word of text that went in comes out. Nothing is
// ever executed for a repair. An adapter of a wire of its own may use it as ours do.
package handover
