package sse

import "io"

// Reader reads events. It never reads ahead of a blank line that has arrived.
type Reader struct {
	src    io.Reader
	err    error
	parser Parser
}

// NewReader returns a Reader of src.
func NewReader(src io.Reader) *Reader { return &Reader{src: src} }

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
