// Package llm is what is said to a model and what is heard from it.
//
// A [Request] is a conversation: system text, [Message] values made of [Part]
// values, and the tools the model may ask for. A [Model] answers it as one
// streaming call, a sequence of [Delta] values that ends either with a delta of
// kind [DeltaStop] (the provider's own terminal event was seen) or with an error:
//
//	for delta, err := range model.Stream(ctx, request) {
//		if err != nil {
//			return err // the attempt failed; what came before is partial
//		}
//		answer.Add(delta)
//	}
//
// A stream that ends with neither is cut, and whoever reads it treats it as a
// failure. [Answer] folds deltas into the [Message] they amount to. A model that is an
// agent by itself, with tools of its own, is an [Engine]. A request that somebody wrote for
// one wire may be sent as it is, and its answer told as it came: [Native]. The package imports only the
// standard library and knows nothing of providers.
package llm
