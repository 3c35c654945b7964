package wire

import "encoding/json"

// Event appends a frame of Server-Sent Events whose data is v as JSON; without a name it
// has its data alone.
func Event(name string, v any, frames []byte) []byte {
	if name != "" {
		frames = append(append(append(frames, "event: "...), name...), '\n')
	}
	frames = append(frames, "data: "...)
	return append(Append(frames, v), "\n\n"...)
}

// Comment appends a line that says nothing to anybody.
func Comment(frames []byte) []byte { return append(frames, ": keep-alive\n\n"...) }

// Append appends v as JSON. What cannot be written, which no value of this package's users
// is, becomes null.
func Append(out []byte, v any) []byte {
	text, err := JSON(v)
	if err != nil {
		return append(out, "null"...)
	}
	return append(out, text...)
}

// Object is args as JSON if they are an object, and else as a string, as they came.
func Object(args []byte) any {
	if json.Valid(args) {
		return json.RawMessage(args)
	}
	return string(args)
}

// OrNull is text, or null where there is none.
func OrNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}
