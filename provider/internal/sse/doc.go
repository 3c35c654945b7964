// Package sse reads text/event-stream as the WHATWG grammar has it: lines end in
// CR, LF or CRLF, a byte order mark may come first, an event ends at a blank line,
// and what is not ended is not an event.
//
//	r := sse.NewReader(body, false)
//	for {
//		event, err := r.Next()
//		if err != nil {
//			return err // io.EOF at the end
//		}
//		…
//	}
//
// Whoever sees the bytes go by in somebody else's hands pushes them into a [Parser].
//
// Unlike a browser it also reports what carries no data, comments above all,
// because whoever watches a stream wants to know that bytes arrived.
package sse
