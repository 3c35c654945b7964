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
// piece before it, drops it: the next checkpoint has it all.
type Delta struct {
	Run      string `json:"run"`
	Attempt  uint64 `json:"attempt"`
	Offset   int    `json:"offset" doc:"Where the text begins, in bytes of UTF-8; reasoning has offsets of its own."`
	Text     string `json:"text"`
	Thinking bool   `json:"thinking,omitempty"`
}

// Notice tells people at once what no event can say now: the store does not write.
type Notice struct {
	Run  string `json:"run"`
	Text string `json:"text"`
}

// frameOf is an item as a server-sent event, the same for everybody who follows the run;
// JSON has no line breaks of its own.
func frameOf(item timeline.Item) ([]byte, error) {
	var head string
	var said any
	switch {
	case item.Delta != nil:
		d := item.Delta
		head, said = "event: delta\n", Delta{d.Run, d.Attempt, d.Offset, d.Text, d.Thinking}
	case item.Notice != nil:
		head, said = "event: notice\n", Notice{item.Notice.Run, item.Notice.Text}
	default:
		head, said = fmt.Sprintf("id: %d\nevent: event\n", item.Event.Seq), item.Event
	}
	data, err := json.Marshal(said)
	if err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, "%sdata: %s\n\n", head, data), nil
}
