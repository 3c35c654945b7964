package sqlite

import (
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"io"
)

// A short run is one row of one to four KiB. SQLite keeps 1,002 bytes of such a row in its page,
// and gives the rest a page of its own, so the row is compressed to less than half. Longer pieces
// are read more often, and are not compressed.
const (
	packFrom = 960
	packTo   = 4 << 10
	packed   = 'z' // the first byte of a compressed row; an event begins with '{'
)

// errPacked says that a row cannot be decompressed.
var errPacked = errors.New("a packed row is damaged")

// packer compresses rows, one at a time.
type packer struct {
	out    bytes.Buffer
	writer *flate.Writer
}

// pack gives lines as they are stored, compressed if that saves space. The result is valid until the
// next call.
func (p *packer) pack(lines []byte) []byte {
	if len(lines) <= packFrom || len(lines) > packTo {
		return lines
	}
	p.out.Reset()
	p.out.WriteByte(packed)
	if p.writer == nil {
		p.writer, _ = flate.NewWriter(nil, flate.BestSpeed) // the level is valid
	}
	p.writer.Reset(&p.out)
	if _, err := p.writer.Write(lines); err != nil || p.writer.Close() != nil || p.out.Len() >= len(lines) {
		return lines
	}
	return p.out.Bytes()
}

// unpack reverses pack.
func unpack(stored []byte) ([]byte, error) {
	if len(stored) == 0 || stored[0] != packed {
		return stored, nil
	}
	lines, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(stored[1:])), packTo+1))
	if err == nil && len(lines) > packTo {
		err = errors.New("it is longer than what is packed")
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errPacked, err)
	}
	return lines, nil
}
