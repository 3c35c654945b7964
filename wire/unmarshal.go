package wire

import (
	"encoding/json"

	fast "github.com/segmentio/encoding/json"
)

// small is the largest document that the faster reader is given, in bytes. It goes down into
// nested values without a bound of its own, and only so deep can a document of this size be.
const small = 8 << 10

// Unmarshal reads a document of a stream into v as [json.Unmarshal] would, which does not refer
// to data afterwards. Streams consist of many small documents, and reading those is most of
// what they cost; whatever the faster reader does not take is left to [json.Unmarshal], whose
// errors are known.
func Unmarshal(data []byte, v any) error {
	if len(data) <= small && fast.Unmarshal(data, v) == nil {
		return nil
	}
	return json.Unmarshal(data, v)
}
