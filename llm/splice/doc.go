// Package splice goes on from an answer that was cut: another call writes what is
// missing, and both together are one answer.
//
// Whether that may be done at all is [Cut.Refusal]. [Request] asks for the rest, with the
// partial text as the beginning of the model's own message where it takes that, else with
// a user's message that quotes the end of it. [Joiner] makes the stream that comes then
// the rest of the first one:
//
//	if why := cut.Refusal(); why != "" {
//		return errors.New(why)
//	}
//	asked, err := splice.Request(cut.Request, cut.Text, splice.Prefill)
//	if err != nil {
//		return err // splice.ErrLimit: the answer has all the length it may have
//	}
//	joiner := splice.NewJoiner(cut.Text, splice.Prefill, spent)
//	for delta, err := range model.Stream(ctx, asked) {
//		// …
//		out, err = joiner.Add(delta, out[:0]) // splice.ErrRestarted: it answers anew
//	}
//
// Nothing here is guessed in favour of going on: a text that seems to begin the answer
// anew, and does not begin with what was said, is an error, and nothing of it is shown.
//
//	cut.go      whether an answer may be gone on with, and why not, for people
//	request.go  the request that asks for the rest
//	joiner.go   the rest as the end of one answer
//	seam.go     where in the new text the rest begins
package splice
