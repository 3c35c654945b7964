package recovery

import (
	"encoding/json"
	"runtime"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/llm"
)

// TestALongAnswerIsReadOnce: reading an event allocates its text, and no copy of its JSON.
func TestALongAnswerIsReadOnce(t *testing.T) {
	const size = 8 << 20
	said := llm.Message{Role: llm.RoleAssistant, Parts: []llm.Part{{Text: strings.Repeat("x", size)}}}
	stored, err := json.Marshal(Event{Run: "r", Seq: 1, Body: Answered{Attempt: 1, Message: said}})
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var e Event
	if err := json.Unmarshal(stored, &e); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > size*3/2 {
		t.Errorf("%d bytes for a text of %d", took, size)
	}
	if got := e.Body.(Answered).Message.Text(); got != said.Text() {
		t.Errorf("it has %d bytes", len(got))
	}
}

// TestWhatIsUnknownIsKept: also when what it was read from is used again.
func TestWhatIsUnknownIsKept(t *testing.T) {
	stored := []byte(`{"v":1,"run":"r","seq":1,"time":"2026-03-01T00:00:00Z","type":"from_the_future","data":{"a":[1,2]}}`)
	var e Event
	if err := json.Unmarshal(stored, &e); err != nil {
		t.Fatal(err)
	}
	clear(stored)
	if u, ok := e.Body.(Unknown); !ok || string(u.Data) != `{"a":[1,2]}` {
		t.Errorf("got %+v", e.Body)
	}
}
