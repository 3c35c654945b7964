package llm

// Native is a request as a caller wrote it for one wire. A model of that wire sends it instead of
// everything else in the Request, except for the name of the model, so that fields unknown here
// reach the provider; it then also gives the answer as [Frame] values. Code that changes anything
// else in a Request must remove its Native.
type Native struct {
	Wire   string              // the type of provider that speaks the wire, for example "anthropic"
	Body   []byte              // JSON; the model in it is replaced by the Request's
	Header map[string][]string // sent along, such as Anthropic-Beta, but without credentials
	Query  string              // likewise, for example "beta=true"
	Stream bool                // the answer is to be streamed; the same as in the body, if that says so
}

// Frame is a piece of the answer to a [Native] request, as it came: first the head, then each event
// of a stream, or the whole document. Known secrets are removed from it. A Frame is valid until the
// next delta is asked for; whoever keeps it longer copies it, and its Data.
type Frame struct {
	Status int                 // of the head; 0 = this is not the head
	Header map[string][]string // likewise
	// Data is an event with the line ends after it, or several that came together, a comment, or a
	// document: the answer, or the beginning of an error body.
	Data []byte
}
