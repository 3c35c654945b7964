package gateway

import (
	"encoding/json"
	"fmt"

	"github.com/mulligan-run/mulligan/timeline"
)

// What a stream says besides events.
var (
	welcome   = []byte(": welcome\n\n")
	stillHere = []byte(": still here\n\n")
	resync    = []byte("event: resync\ndata: {}\n\n") // the client should reconnect with the last id: live text was lost
	end       = []byte("event: end\ndata: {}\n\n")    // the client should not reconnect
)

// Delta is a live piece of an attempt's text. A client drops it if it has that text already, or
// misses a piece before it. A client that joins in the middle of an attempt gets the reasoning
// so far as one piece and the text so far as another; the attempt's last event has the whole text.
type Delta struct {
	Run      string `json:"run"`
	Attempt  uint64 `json:"attempt"`
	Offset   int    `json:"offset" doc:"Where the text begins, in bytes of UTF-8; reasoning has offsets of its own."`
	Text     string `json:"text"`
	Thinking bool   `json:"thinking,omitempty"`
}

// notice tells people at once what no event can say at the moment: the store cannot
// write.
type notice struct {
	Run  string `json:"run"`
	Text string `json:"text"`
}

// frameOf encodes an item as a server-sent event, the same for everybody who follows the
// run. JSON contains no raw line breaks.
func frameOf(item timeline.Item) ([]byte, error) {
	var head []byte
	var said any
	switch {
	case item.Delta != nil:
		d := item.Delta
		head, said = []byte("event: delta\ndata: "), Delta{d.Run, d.Attempt, d.Offset, d.Text, d.Thinking}
	case item.Notice != nil:
		head, said = []byte("event: notice\ndata: "), notice{item.Notice.Run, item.Notice.Text}
	default:
		head, said = eventHead(item.Event.Seq), item.Event
	}
	data, err := json.Marshal(said)
	if err != nil {
		return nil, err
	}
	return append(append(head, data...), "\n\n"...), nil
}

// eventHead is what precedes an event's stored form.
func eventHead(seq uint64) []byte { return fmt.Appendf(nil, "id: %d\nevent: event\ndata: ", seq) }
