package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// keptDocument is the largest document whose buffer is kept for the next one, in bytes.
const keptDocument = 64 << 10

// Documents reads one JSON document after the other, each as [json.Unmarshal] would. What
// that needs anew for each, which is most of what a small one costs, is kept. The zero value
// is ready.
type Documents struct {
	in      rest
	fed     int64
	decoder *json.Decoder // nil = none that is in order
}

// rest is what the decoder has not read of a document.
type rest []byte

// Read gives what is left.
func (r *rest) Read(p []byte) (int, error) {
	if len(*r) == 0 {
		return 0, io.EOF
	}
	n := copy(p, *r)
	*r = (*r)[n:]
	return n, nil
}

// Unmarshal reads data into v, which does not refer to data afterwards.
func (d *Documents) Unmarshal(data []byte, v any) error {
	data = bytes.Trim(data, " \t\r\n")
	if d.decoder == nil {
		d.decoder, d.fed = json.NewDecoder(&d.in), 0
	}
	d.in = data
	d.fed += int64(len(data))
	err := d.decoder.Decode(v)
	whole := d.decoder.InputOffset() == d.fed
	d.in = nil
	if len(data) > keptDocument || !whole {
		d.decoder = nil
	}
	if mismatch := (*json.UnmarshalTypeError)(nil); whole && (err == nil || errors.As(err, &mismatch)) {
		return err
	}
	d.decoder = nil // it goes on from what was wrong
	return json.Unmarshal(data, v)
}
