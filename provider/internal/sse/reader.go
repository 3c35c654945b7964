package sse

import (
	"bytes"
	"io"
)

// Reader reads events. It does not wait for more once a blank line has come.
type Reader struct {
	src    io.Reader
	err    error
	parser Parser
}

// NewReader returns a Reader of src. With keep it sets Raw in its events.
func NewReader(src io.Reader, keep bool) *Reader {
	return &Reader{src: src, parser: Parser{Keep: keep}}
}

// Next returns the next event. The error is io.EOF at the end, even in the middle of an event;
// ErrTooLarge; or the source's own.
func (r *Reader) Next() (Event, error) {
	for {
		event, ok, err := r.parser.next()
		if ok || err != nil {
			return event, err
		}
		if err := r.fill(); err != nil {
			return Event{}, err
		}
	}
}

// More reports whether another whole event, or a comment, has already been read, so that Next need
// not wait.
func (r *Reader) More() bool {
	p := &r.parser
	left := bytes.TrimLeft(p.buf[p.from:p.to], "\r\n")
	if len(left) > 0 && left[0] == ':' {
		return bytes.ContainsAny(left, "\r\n")
	}
	return bytes.Contains(left, lineEnds[0]) || bytes.Contains(left, lineEnds[1])
}

// lineEnds are the ends of an event as providers write them. Other ends are not searched for.
var lineEnds = [...][]byte{[]byte("\n\n"), []byte("\r\n\r\n")}

// Rest gives the bytes that belong to no event, when no more events follow: those after the last
// event and, if that ended with CR and the stream goes on, its LF, which Rest waits for. It is
// valid until the next call.
func (r *Reader) Rest() []byte {
	p := &r.parser
	if !p.Keep {
		return nil
	}
	p.forget()
	if p.skipLF && p.from == p.to {
		_ = r.fill() // on an error there is none
	}
	p.endCRLF()
	if r.err != nil {
		p.from = p.to
	}
	return p.kept()
}

// fill reads once.
func (r *Reader) fill() error {
	if r.err != nil {
		return r.err
	}
	room, err := r.parser.room()
	if err != nil {
		return err
	}
	n, err := r.src.Read(room)
	r.parser.to += n
	r.err = err
	return nil
}
