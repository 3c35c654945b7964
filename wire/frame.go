package wire

import "encoding/json"

// Event appends a frame of Server-Sent Events whose data is v as JSON. An empty name writes no
// event line.
func Event(name string, v any, frames []byte) []byte {
	if name != "" {
		frames = append(append(append(frames, "event: "...), name...), '\n')
	}
	frames = append(frames, "data: "...)
	return append(Append(frames, v), "\n\n"...)
}

// Comment appends a comment, which readers ignore.
func Comment(frames []byte) []byte { return append(frames, ": keep-alive\n\n"...) }

// Append appends v as JSON. A value that cannot be encoded, which no caller in this package has,
// becomes null.
func Append(out []byte, v any) []byte {
	text, err := JSON(v)
	if err != nil {
		return append(out, "null"...)
	}
	return append(out, text...)
}

// Object is args as JSON if they are an object, otherwise as a string, as they came.
func Object(args []byte) any {
	if json.Valid(args) {
		return json.RawMessage(args)
	}
	return string(args)
}

// OrNull is text, or null if it is empty.
func OrNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}
