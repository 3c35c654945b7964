// Package handover makes a conversation fit for the model that is asked next,
// which need not be the one that spoke before.
//
// [Transcript] drops what only another model may see again, gives tool calls ids
// that the target's wire takes, and puts each result right after its call, an
// error in the place of one that is missing:
//
//	said, err := handover.Transcript(request, handover.Rules{MaxID: 64})
package handover
