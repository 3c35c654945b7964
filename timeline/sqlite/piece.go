package sqlite

import (
	"bytes"
	"database/sql"
	"iter"
)

// maxPiece is the most events in one row of events. To read the last of them all have to be read;
// writing them costs as much as writing one.
const maxPiece = 32

// piece is a row of events: consecutive events of a run, each in recovery's stored form, which
// contains no line break.
type piece struct {
	last  uint64 // seq of the last one
	lines sql.RawBytes
}

// scan reads a row, compressed or not.
func (p *piece) scan(r row) error {
	if err := r.Scan(&p.last, &p.lines); err != nil {
		return err
	}
	lines, err := unpack(p.lines)
	p.lines = lines
	return err
}

// after gives the events after that seq.
func (p *piece) after(seq uint64) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		next := p.last - uint64(bytes.Count(p.lines, newline)) //nolint:gosec // it cannot be negative
		for line := range bytes.SplitSeq(p.lines, newline) {
			if next > seq && !yield(line) {
				return
			}
			next++
		}
	}
}

var newline = []byte("\n")
