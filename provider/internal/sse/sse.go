package sse

import (
	"bytes"
	"errors"
	"io"
)

// MaxSize is the most that one line, or the data of one event, may hold, in bytes.
const MaxSize = 4 << 20

// ErrTooLarge says that a line or an event is larger than MaxSize.
var ErrTooLarge = errors.New("sse: line or event larger than 4 MiB")

const (
	startSize = 16 << 10
	keepSize  = 64 << 10 // a larger data buffer is not kept for the next event
)

// Event is one event, or a sign of life. Name and Data are valid until the next
// call of Next.
type Event struct {
	Name []byte
	Data []byte
	Idle bool // bytes that mean nothing: a comment, or an event without data
}

// Reader reads events. It never reads ahead of a blank line that has arrived.
type Reader struct {
	src  io.Reader
	err  error
	buf  []byte
	from int // unread bytes are buf[from:to]
	to   int
	seen int // bytes after from that hold no line end

	skipLF  bool // the last line ended in CR
	started bool // the byte order mark has been looked for

	name    []byte
	data    []byte
	hasData bool
	dirty   bool // a field was read since the last blank line
}

// NewReader returns a Reader of src.
func NewReader(src io.Reader) *Reader {
	return &Reader{src: src, buf: make([]byte, startSize)}
}

// Next returns the next event. The error is io.EOF at the end, also where that
// is in the middle of an event; ErrTooLarge; or what the source said.
func (r *Reader) Next() (Event, error) {
	r.reset()
	for {
		line, err := r.line()
		if err != nil {
			return Event{}, err
		}
		switch {
		case len(line) == 0 && r.hasData:
			return r.event(), nil
		case len(line) == 0 && r.dirty:
			r.name, r.dirty = r.name[:0], false
			return Event{Idle: true}, nil
		case len(line) == 0:
		case line[0] == ':':
			return Event{Idle: true}, nil
		default:
			if err := r.field(line); err != nil {
				return Event{}, err
			}
		}
	}
}

// reset forgets the event that was returned last; an unfinished one, which a
// comment interrupted, is kept.
func (r *Reader) reset() {
	if r.dirty {
		return
	}
	r.name, r.data, r.hasData = r.name[:0], r.data[:0], false
	if cap(r.data) > keepSize {
		r.data = nil
	}
}

func (r *Reader) event() Event {
	r.dirty = false
	return Event{Name: r.name, Data: r.data}
}

func (r *Reader) field(line []byte) error {
	r.dirty = true
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "event":
		r.name = append(r.name[:0], value...)
	case "data":
		if len(r.data)+len(value) >= MaxSize {
			return ErrTooLarge
		}
		if r.hasData {
			r.data = append(r.data, '\n')
		}
		r.data, r.hasData = append(r.data, value...), true
	}
	return nil
}

// line returns the next line without its end. It is valid until the next call.
func (r *Reader) line() ([]byte, error) {
	for {
		if line, ok := r.cut(); ok {
			return r.unmark(line), nil
		}
		if err := r.fill(); err != nil {
			return nil, err
		}
	}
}

// cut takes a line out of the buffer, if a whole one is there.
func (r *Reader) cut() ([]byte, bool) {
	if r.skipLF && r.from < r.to {
		if r.buf[r.from] == '\n' {
			r.from++
		}
		r.skipLF = false
	}
	fresh := r.buf[r.from+r.seen : r.to]
	end := lineEnd(fresh)
	if end < 0 {
		r.seen += len(fresh)
		return nil, false
	}
	line := r.buf[r.from : r.from+r.seen+end]
	r.skipLF = fresh[end] == '\r'
	r.from += r.seen + end + 1
	r.seen = 0
	return line, true
}

func lineEnd(b []byte) int {
	lf := bytes.IndexByte(b, '\n')
	if lf >= 0 {
		b = b[:lf]
	}
	if cr := bytes.IndexByte(b, '\r'); cr >= 0 {
		return cr
	}
	return lf
}

func (r *Reader) unmark(line []byte) []byte {
	if r.started {
		return line
	}
	r.started = true
	return bytes.TrimPrefix(line, []byte("\xEF\xBB\xBF"))
}

// fill reads once, making room before.
func (r *Reader) fill() error {
	if r.err != nil {
		return r.err
	}
	if r.from > 0 {
		copy(r.buf, r.buf[r.from:r.to])
		r.from, r.to = 0, r.to-r.from
	}
	if r.to == len(r.buf) {
		if r.to >= MaxSize {
			return ErrTooLarge
		}
		r.buf = append(r.buf, make([]byte, min(len(r.buf), MaxSize-len(r.buf)))...)
	}
	n, err := r.src.Read(r.buf[r.to:])
	r.to += n
	r.err = err
	return nil
}
