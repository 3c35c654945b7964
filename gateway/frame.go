package gateway

import (
	"encoding/json"
	"fmt"

	"github.com/mulligan-run/mulligan/timeline"
)

// What a stream says beside what happens.
var (
	welcome   = []byte(": welcome\n\n")
	stillHere = []byte(": still here\n\n")
	resync    = []byte("event: resync\ndata: {}\n\n") // come back with the last id: something live is lost
	end       = []byte("event: end\ndata: {}\n\n")    // do not come back
)

// Delta is a live piece of an attempt's text. Whoever has more of it already, or misses a
// piece before it, drops it. Who comes in the middle of an attempt gets what it has said so far
// as one piece, and the attempt's last event has it all.
type Delta struct {
	Run      string `json:"run"`
	Attempt  uint64 `json:"attempt"`
	Offset   int    `json:"offset" doc:"Where the text begins, in bytes of UTF-8; reasoning has offsets of its own."`
	Text     string `json:"text"`
	Thinking bool   `json:"thinking,omitempty"`
}

// notice tells people at once what no event can say now: the store does not write.
type notice struct {
	Run  string `json:"run"`
	Text string `json:"text"`
}

// frameOf is an item as a server-sent event, the same for everybody who follows the run;
// JSON has no line breaks of its own.
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

// eventHead is what comes before an event's stored form.
func eventHead(seq uint64) []byte { return fmt.Appendf(nil, "id: %d\nevent: event\ndata: ", seq) }
