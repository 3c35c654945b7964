package sqlite

import (
	"bytes"
	"database/sql"
	"iter"
)

// maxPiece is the most events that one row of events holds. To read the last of them is to
// read them all; to write them is as dear as to write one.
const maxPiece = 32

// piece is a row of events: some of a run's that follow one another, each as recovery
// stores it, which has no line break.
type piece struct {
	last  uint64 // seq of the last
	lines sql.RawBytes
}

// scan reads the row, whether it is packed or not.
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
		next := p.last - uint64(bytes.Count(p.lines, newline)) //nolint:gosec // never negative
		for line := range bytes.SplitSeq(p.lines, newline) {
			if next > seq && !yield(line) {
				return
			}
			next++
		}
	}
}

var newline = []byte("\n")
