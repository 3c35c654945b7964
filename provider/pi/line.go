package pi

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// maxLine is the longest line that Pi may print, in bytes: the last event of a run has all
// of its messages.
const maxLine = 64 << 20

var (
	errLongLine = errors.New("pi printed a line of more than 64 MiB")
	errNoObject = errors.New("pi printed a line that is not a JSON object")
)

// lines reads Pi's output. Only LF ends a line: text may contain U+2028.
type lines struct {
	from *bufio.Reader
	long []byte // what does not fit into from's buffer
}

func newLines(r io.Reader) *lines { return &lines{from: bufio.NewReaderSize(r, 64<<10)} }

// next returns a line without its end, valid until the next call. The last line may lack its end.
func (l *lines) next() ([]byte, error) {
	l.long = l.long[:0]
	for {
		part, err := l.from.ReadSlice('\n')
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			if len(l.long)+len(part) > maxLine {
				return nil, errLongLine
			}
			l.long = append(l.long, part...)
			continue
		case err != nil && (len(part)+len(l.long) == 0 || !errors.Is(err, io.EOF)):
			return nil, err
		}
		if len(l.long) > 0 {
			part = append(l.long, part...)
			l.long = part
		}
		return bytes.TrimSuffix(bytes.TrimSuffix(part, []byte("\n")), []byte("\r")), nil
	}
}

// members calls each for the members of a JSON object without reading their values: most of a line
// repeats what was said before. Keys are given as they are written, without their quotes. What it
// skips need not be JSON, so code that uses a value must decode it.
func members(object []byte, each func(key string, value json.RawMessage)) error {
	i := space(object, 0)
	if i >= len(object) || object[i] != '{' {
		return errNoObject
	}
	i = space(object, i+1)
	if i < len(object) && object[i] == '}' {
		return nil
	}
	for {
		end := skip(object, i)
		if end < 0 || object[i] != '"' {
			return errNoObject
		}
		key := string(object[i+1 : end-1])
		if i = space(object, end); i >= len(object) || object[i] != ':' {
			return errNoObject
		}
		i = space(object, i+1)
		if end = skip(object, i); end < 0 {
			return errNoObject
		}
		each(key, json.RawMessage(object[i:end]))
		if i = space(object, end); i >= len(object) {
			return errNoObject
		}
		switch object[i] {
		case '}':
			return nil
		case ',':
			i = space(object, i+1)
		default:
			return errNoObject
		}
	}
}

func space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\r' || b[i] == '\n') {
		i++
	}
	return i
}

// skip gives the index after the value that begins at i; -1 if it does not end.
func skip(b []byte, i int) int {
	if i >= len(b) {
		return -1
	}
	switch b[i] {
	case '"':
		return skipString(b, i)
	case '{', '[':
		return skipNested(b, i)
	}
	from := i
	for i < len(b) && !bytes.ContainsRune([]byte(",}] \t\r\n"), rune(b[i])) {
		i++
	}
	if i == from {
		return -1
	}
	return i
}

func skipString(b []byte, i int) int {
	for i++; ; {
		quote := bytes.IndexByte(b[i:], '"')
		if quote < 0 {
			return -1
		}
		slashes := 0
		for at := i + quote - 1; at >= i && b[at] == '\\'; at-- {
			slashes++
		}
		if i += quote + 1; slashes%2 == 0 {
			return i
		}
	}
}

func skipNested(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			if i = skipString(b, i); i < 0 {
				return -1
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return -1
}
