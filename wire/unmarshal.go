package wire

import (
	"encoding/json"

	fast "github.com/segmentio/encoding/json"
)

// small is the largest document for the faster reader, in bytes. That reader does not limit its
// recursion, but the size of the document does.
const small = 8 << 10

// Unmarshal decodes a document of a stream into v as [json.Unmarshal] would; v does not refer to
// data afterwards. Streams consist of many small documents, and decoding them is most of their
// cost. What the faster reader does not accept is left to [json.Unmarshal], for its well-known
// errors.
func Unmarshal(data []byte, v any) error {
	if len(data) <= small && fast.Unmarshal(data, v) == nil {
		return nil
	}
	return json.Unmarshal(data, v)
}
