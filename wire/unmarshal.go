package wire

import (
	"encoding/json"

	fast "github.com/segmentio/encoding/json"
)

// small is the largest document for the faster reader, in bytes. That reader does not limit its
// recursion, but the size of the document does.
const small = 8 << 10

// Unmarshal decodes a small document into v as [json.Unmarshal] would; v does not refer to data
// afterwards. Streams and conversations consist of many small documents, and decoding them is most
// of their cost. What the faster reader does not accept is left to [json.Unmarshal], for its
// well-known errors.
func Unmarshal(data []byte, v any) error {
	if len(data) <= small && !hasLongNumber(data) && fast.Unmarshal(data, v) == nil {
		return nil
	}
	return json.Unmarshal(data, v)
}

// longNumber is how many digits a number has that may be too large for an int64. The faster reader
// would cut it off.
const longNumber = 19

// hasLongNumber reports whether so many digits stand in a row. One of them is at a multiple of
// that many bytes.
func hasLongNumber(data []byte) bool {
	isDigit := func(i int) bool { return i >= 0 && i < len(data) && '0' <= data[i] && data[i] <= '9' }
	for i := longNumber - 1; i < len(data); i += longNumber {
		from, to := i, i
		for isDigit(from - 1) {
			from--
		}
		for isDigit(to) {
			to++
		}
		if to-from >= longNumber {
			return true
		}
	}
	return false
}
