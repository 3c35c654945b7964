package gateway

import (
	"bytes"
	"encoding/json"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// TestLongTextsAreWrittenAsTheyAre: piece by piece comes to the same JSON, whatever a text has
// at the seams.
func TestLongTextsAreWrittenAsTheyAre(t *testing.T) {
	for name, text := range map[string]string{
		"short": "short", "letters": strings.Repeat("a", 3*longText), "of three bytes": strings.Repeat("…", longText), "of four": "x" + strings.Repeat("😀", longText),
		"escaped": strings.Repeat("\"\\\n\x01<&\u2028", longText), "not UTF-8": strings.Repeat("\xff\x80a", longText), "cut": strings.Repeat("a", longText) + "\xf0\x9f",
	} {
		run := exampleGoesOn
		run.Answer.Text = text
		run.Messages = []llm.Message{{Role: llm.RoleAssistant, Parts: []llm.Part{
			{Text: text}, {Thinking: &llm.Thinking{Text: text}}, {Result: &llm.ToolResult{CallID: "1", Text: text}}, {Text: "0;"},
		}}}
		var got, want bytes.Buffer
		if err := writeRun(&got, run); err != nil {
			t.Fatal(err)
		}
		e := json.NewEncoder(&want)
		e.SetEscapeHTML(false)
		if err := e.Encode(run); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Bytes(), want.Bytes()) {
			t.Errorf("%s: %d bytes, not %d", name, got.Len(), want.Len())
		}
		if run.Messages[0].Parts[1].Thinking.Text != text {
			t.Errorf("%s: the run was changed", name)
		}
	}
}

// TestLongEventsAreSentAsTheyAreStored: piece by piece comes to the event's stored form.
func TestLongEventsAreSentAsTheyAreStored(t *testing.T) {
	text := strings.Repeat("\"…😀\\\n\x01<&\u2028", longText/8)
	said := llm.Message{Role: llm.RoleAssistant, Parts: []llm.Part{{Text: "a"}, {Text: text}, {Thinking: &llm.Thinking{Text: text}}}}
	for _, body := range []recovery.Body{
		recovery.Started{System: text, Input: []llm.Message{said}},
		recovery.Answered{Message: said},
		recovery.Failed{Text: text},
		recovery.CancelRequested{Text: text},
		recovery.ToolReturned{Result: llm.ToolResult{Text: text}},
		recovery.Compacted{Messages: []llm.Message{said}},
	} {
		e := recovery.Event{Run: "r1", Seq: 7, Body: body}
		frame, err := frameOf(timeline.Item{Event: &e})
		if err != nil {
			t.Fatal(err)
		}
		var sent recorded
		s := &subscriber{w: &sent, flow: http.NewResponseController(&sent), situation: &situation{}}
		s.begin(func(error) {})
		if err := s.sendLong(&e); err != nil || !bytes.Equal(sent.Bytes(), frame) {
			t.Errorf("%s: %v, %d bytes, not %d", e.Type(), err, sent.Len(), len(frame))
		}
		s.close()
		if !isLong(&e) || isLong(&recovery.Event{Body: recovery.Began{Tell: text}}) {
			t.Errorf("%s: what is long is not known", e.Type())
		}
	}
}

// recorded is an answer that is kept.
type recorded struct{ bytes.Buffer }

func (*recorded) Header() http.Header { return http.Header{} }
func (*recorded) WriteHeader(int)     {}
func (*recorded) Flush()              {}

func (*recorded) SetWriteDeadline(time.Time) error { return nil }

// TestALongAnswerIsNotHeldAgain: what writing a run takes does not grow with what was said.
func TestALongAnswerIsNotHeldAgain(t *testing.T) {
	const size = 32 << 20
	run := exampleGoesOn
	run.Answer.Text = strings.Repeat("a long answer. ", size/15)
	run.Messages = []llm.Message{{Role: llm.RoleAssistant, Parts: []llm.Part{{Text: run.Answer.Text}}}}
	held := &heldMost{every: size / 8}
	held.look()
	before := held.most
	if err := formats()["application/json"].Marshal(held, run); err != nil {
		t.Fatal(err)
	}
	if got := held.most - before; got > size/8 {
		t.Errorf("%d bytes are held beside the %d", got, size)
	}
}

// heldMost throws away what is written, and looks every so many bytes at what is held meanwhile.
type heldMost struct {
	every, next, written int
	most                 uint64
}

func (h *heldMost) Write(p []byte) (int, error) {
	if h.written += len(p); h.written >= h.next {
		h.next = h.written + h.every
		h.look()
	}
	return len(p), nil
}

func (h *heldMost) look() {
	runtime.GC()
	var now runtime.MemStats
	runtime.ReadMemStats(&now)
	h.most = max(h.most, now.HeapAlloc)
}
