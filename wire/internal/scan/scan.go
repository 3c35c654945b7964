package scan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"unicode/utf8"

	fast "github.com/segmentio/encoding/json"
)

const (
	maxDepth  = 256     // of nested objects and lists
	maxValues = 500_000 // in all: many small values must not take more memory than a few large ones
)

// Object says why data cannot be read: it is not a JSON object, is nested too deeply, or has too
// many values. It gives "" if it can be read. The other functions rely on that.
func Object(data []byte) (problem string) {
	trimmed := bytes.TrimLeft(data, " \t\r\n")
	switch {
	case len(trimmed) == 0:
		return "is empty"
	case trimmed[0] != '{':
		return "is not a JSON object"
	}
	if problem := bounded(data); problem != "" { // first, since the faster reader does not limit its recursion
		return problem
	}
	if !fast.Valid(data) {
		return "is not valid JSON"
	}
	return ""
}

// bounded checks the depth and the number of values, even of data that is not valid JSON.
func bounded(data []byte) (problem string) {
	depth, values := 0, 1
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '"':
			i = min(text(data, i), len(data)) - 1
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case ',':
			values++
		}
		if depth > maxDepth {
			return fmt.Sprintf("is more than %d levels deep", maxDepth)
		}
	}
	if values > maxValues {
		return fmt.Sprintf("has more than %d values", maxValues)
	}
	return ""
}

// Span is a range of bytes in a JSON text.
type Span struct{ From, To int }

// Of is the bytes of the range.
func (s Span) Of(data []byte) []byte { return data[s.From:s.To] }

// Inside is the index after the brace of an object.
func Inside(object []byte) int { return Blank(object, 0) + 1 }

// Members yields the names and values of an object, in order.
func Members(object []byte) iter.Seq2[string, Span] {
	return func(yield func(string, Span) bool) {
		i := after(object, Blank(object, 0)) // after the brace
		for i < len(object) && object[i] != '}' {
			from := i
			i = text(object, i)
			name := Text(object[from:i])
			i = Blank(object, Blank(object, i)+1) // after the colon
			value := Span{i, skip(object, i)}
			if !yield(name, value) {
				return
			}
			i = comma(object, value.To)
		}
	}
}

// Elements yields the elements of a list, with their indexes.
func Elements(list []byte) iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		i := after(list, Blank(list, 0)) // after the bracket
		for n := 0; i < len(list) && list[i] != ']'; n++ {
			value := Span{i, skip(list, i)}
			if !yield(n, value.Of(list)) {
				return
			}
			i = comma(list, value.To)
		}
	}
}

// Text decodes a JSON string.
func Text(quoted []byte) string {
	if inner := quoted[1 : len(quoted)-1]; bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner) {
		return string(inner)
	}
	var s string
	_ = json.Unmarshal(quoted, &s) // it is valid
	return s
}

// comma is the index after the separator that follows an element ending at i, or the end.
func comma(data []byte, i int) int {
	if i = Blank(data, i); i < len(data) && data[i] == ',' {
		return after(data, i)
	}
	return i
}

func after(data []byte, i int) int { return Blank(data, i+1) }

// Blank is the index of the first byte, from i on, that is not white space.
func Blank(data []byte, i int) int {
	for i < len(data) && strings.IndexByte(" \t\r\n", data[i]) >= 0 {
		i++
	}
	return i
}

// skip is the end of the value that begins at i.
func skip(data []byte, i int) int {
	depth := 0
	for i < len(data) {
		switch data[i] {
		case '"':
			i = text(data, i)
		case '{', '[':
			depth++
			i++
		case '}', ']':
			depth--
			i++
		case ',', ':':
			i++
		default:
			i = word(data, i)
		}
		if depth == 0 {
			return i
		}
		i = Blank(data, i)
	}
	return i
}

// word is the end of a number, true, false or null.
func word(data []byte, i int) int {
	if end := bytes.IndexAny(data[i:], ",:]} \t\r\n"); end > 0 {
		return i + end
	}
	return len(data)
}

// text is the end of the string that begins at i.
func text(data []byte, i int) int {
	for i++; i < len(data); i++ {
		at := bytes.IndexByte(data[i:], '"')
		if at < 0 {
			return len(data)
		}
		i += at
		slashes := 0
		for data[i-1-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return i + 1
		}
	}
	return i
}
