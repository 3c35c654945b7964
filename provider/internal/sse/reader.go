package sse

import (
	"bytes"
	"io"
)

// Reader reads events. It never reads ahead of a blank line that has arrived.
type Reader struct {
	src    io.Reader
	err    error
	parser Parser
}

// NewReader returns a Reader of src.
func NewReader(src io.Reader) *Reader { return &Reader{src: src} }

// NewKeeper returns a Reader of src whose events have their Raw.
func NewKeeper(src io.Reader) *Reader { return &Reader{src: src, parser: Parser{Keep: true}} }

// Next returns the next event. The error is io.EOF at the end, also where that
// is in the middle of an event; ErrTooLarge; or what the source said.
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

// More reports whether bytes of another event, with its end, or of a comment were read already: Next
// gives something without waiting.
func (r *Reader) More() bool {
	p := &r.parser
	left := bytes.TrimLeft(p.buf[p.from:p.to], "\r\n")
	if len(left) > 0 && left[0] == ':' {
		return bytes.ContainsAny(left, "\r\n")
	}
	return bytes.Contains(left, lineEnds[0]) || bytes.Contains(left, lineEnds[1])
}

// lineEnds are the ends of an event, as providers write them. What ends otherwise is not looked for.
var lineEnds = [...][]byte{[]byte("\n\n"), []byte("\r\n\r\n")}

// Rest gives the bytes that belong to no event, once no event follows: what came after the last
// one and, where that ended in a CR and the stream goes on, the LF of that, which is waited for.
// It is valid until the next call.
func (r *Reader) Rest() []byte {
	p := &r.parser
	if !p.Keep {
		return nil
	}
	if p.told {
		p.raw, p.told = p.raw[:0], false
	}
	if p.skipLF && p.from == p.to {
		_ = r.fill() // where it fails there is none
	}
	p.endCRLF()
	if r.err != nil {
		p.read(p.to - p.from)
	}
	return p.raw
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
