package proxy

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/mulligan-run/mulligan/llm"
)

// usage is how a wire writes what an answer has used: the numbers in an object with that name. An
// answer that is passed on as it came contains it already; the usage of the attempts before is
// added there, and nothing else is changed.
type usage struct {
	object *regexp.Regexp             // matches up to its brace
	more   func(u llm.Usage) []number // what u adds to which of its numbers
}

// number is a number in the object, by its keys with dots between them.
type number struct {
	path string
	more int64
}

// namedUsage is the object with that key. A quoted key inside a text does not match, since its
// quotes are escaped.
func namedUsage(key string, more func(u llm.Usage) []number) usage {
	return usage{regexp.MustCompile(`"` + key + `"\s*:\s*\{`), more}
}

// input is the whole input of a request, tokens from a cache included.
func input(u llm.Usage) int64 {
	return llm.Sum(u.InputTokens, llm.Sum(u.CacheReadTokens, u.CacheWriteTokens))
}

// plus is data, a frame or a document, with what was used before it added.
func (s usage) plus(data []byte, before llm.Usage) []byte {
	if before == (llm.Usage{}) || s.object == nil {
		return data
	}
	more := s.more(before)
	found := s.object.FindAllIndex(data, -1)
	for _, at := range slices.Backward(found) {
		data = addTo(data, at[1]-1, more)
	}
	return data
}

// addTo adds more to the numbers of the object that begins at at. A number that cannot be read is
// kept.
func addTo(data []byte, at int, more []number) []byte {
	type edit struct {
		from, to int
		sum      int64
	}
	var edits []edit
	err := eachNumber(data[at:], func(path string, end int, text string) {
		i := slices.IndexFunc(more, func(n number) bool { return n.path == path })
		value, err := strconv.ParseInt(text, 10, 64)
		if i >= 0 && err == nil && value >= 0 {
			edits = append(edits, edit{at + end - len(text), at + end, llm.Sum(value, more[i].more)})
		}
	})
	if err != nil {
		return data
	}
	for _, e := range slices.Backward(edits) {
		data = slices.Concat(data[:e.from], strconv.AppendInt(nil, e.sum, 10), data[e.to:])
	}
	return data
}

// eachNumber yields the numbers of the object that data begins with, and where each ends.
func eachNumber(data []byte, each func(path string, end int, text string)) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var keys []string // of the open objects; "" for a list
	key := false      // the next string is a key
	for {
		token, err := d.Token()
		if err != nil {
			return err
		}
		inList := len(keys) > 0 && keys[len(keys)-1] == "[]"
		switch t := token.(type) {
		case json.Delim:
			switch t {
			case '{':
				keys, key = append(keys, ""), true
				continue
			case '[':
				keys, key = append(keys, "[]"), false
				continue
			}
			if keys = keys[:len(keys)-1]; len(keys) == 0 {
				return nil
			}
		case string:
			if key && !inList {
				keys[len(keys)-1], key = t, false
				continue
			}
		case json.Number:
			each(strings.Join(keys, "."), int(d.InputOffset()), t.String())
		}
		key = keys[len(keys)-1] != "[]"
	}
}
