package failure

import "time"

// Evidence is all that is known of a failed attempt. Nothing in it may be text that
// a model wrote or a tool printed.
type Evidence struct {
	Err      error // the error of the transport or the decoder; may be nil
	Kind     Kind  // what the adapter knows for sure: its own timer, a TLS error, a refused connection; "" = unknown
	Phase    Phase
	Provider string              // the entry's name
	Model    string              // full name
	Status   int                 // HTTP status, 0 = none was seen
	Header   map[string][]string // canonical keys, as in net/http
	Body     []byte              // the raw error body or error event, at most 64 KiB; secrets already removed
	At       time.Time           // when it arrived; dates in headers are relative to it (or to the Date header)
}
