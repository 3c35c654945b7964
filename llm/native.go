package llm

// Native is a request as a caller wrote it for one wire. A model of that wire sends it in
// place of everything else that the Request says but its Model, so that what nobody here
// knows reaches the provider, and tells the answer in its [Frame] values, too. Whoever
// changes anything else of a Request takes its Native off.
type Native struct {
	Wire   string              // the type of provider that speaks it, for example "anthropic"
	Body   []byte              // JSON; the name of the model in it gives way to the Request's
	Header map[string][]string // to be sent along, such as Anthropic-Beta; credentials in it are not
	Query  string              // likewise, for example "beta=true"
	Stream bool                // the answer is to be streamed; where the body says so, it agrees
}

// Frame is a piece of an answer to a [Native] request, as it came: first the head, then each
// event of a stream, or the whole document. Known secrets are taken out of it.
type Frame struct {
	Status int                 // of the head; 0 = this is no head
	Header map[string][]string // likewise
	// Data is an event with the line ends behind it, a comment, or a document: the answer,
	// or what a refusal says, of which no more than the beginning.
	Data []byte
}
