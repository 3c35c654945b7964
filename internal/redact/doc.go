// Package redact takes known secrets out of text, however they are spelled there.
//
//	var known redact.Known
//	known.Add(key)
//	known.Text("bad key sk-…")   // "bad key [redacted]"
//
//	stream := known.Stream()     // of text that comes in pieces
//	for piece := range pieces {
//		show(stream.Push(piece)) // what may be the beginning of a secret waits
//	}
//	show(stream.Flush())
//
// A secret is found as it is, in Base64 (at any place of a longer text) and in hex, and
// through escapes in any mixture, also of escapes that are escaped again: those of JSON
// (\u002f, \/), of URLs (%2f) and of HTML (&#47;, &sol;). The text is read a few times at
// the most, whatever it holds, and the number of secrets makes that no slower.
//
// What is not found: a part of a secret, one with something in between its letters, and
// one that was encrypted, compressed, turned around or put into another alphabet.
package redact
