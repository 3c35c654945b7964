package proxy

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/llm"
)

// flushes counts how often an answer is sent on its way.
type flushes struct {
	*httptest.ResponseRecorder
	count int
	sent  string
}

func (f *flushes) FlushError() error {
	f.count++
	f.sent = f.Body.String()
	return nil
}

// TestWhatFollowsAtOnceIsSentTogether: frames that were read together are sent together, the last of
// them at once, also where it means nothing.
func TestWhatFollowsAtOnceIsSentTogether(t *testing.T) {
	w := &flushes{ResponseRecorder: httptest.NewRecorder()}
	c := &call{
		reply:  &reply{asked: asked{dialect: chat}, now: time.Now, w: w},
		cancel: func(error) {}, commit: commit{mode: ModeContinue},
	}
	c.reply.asked.Stream = true
	c.Began(1, "p/m")
	hear := func(d llm.Delta) {
		t.Helper()
		if err := c.Heard(t.Context(), 1, d); err != nil {
			t.Fatal(err)
		}
	}
	frame := func(data string) {
		hear(llm.Delta{Kind: llm.DeltaFrame, Frame: &llm.Frame{Data: []byte(data)}, More: true})
	}
	hear(llm.Delta{Kind: llm.DeltaFrame, Frame: &llm.Frame{Status: http.StatusOK}, More: true})
	for _, word := range []string{"a", "b", "c"} {
		frame("data: " + word + "\n\n")
		hear(llm.Delta{Kind: llm.DeltaText, Text: word, More: word != "c"})
	}
	if w.count != 1 || w.sent != "data: a\n\ndata: b\n\ndata: c\n\n" {
		t.Errorf("sent %d times: %q", w.count, w.sent)
	}
	frame("data: d\n\n")
	hear(llm.Delta{Kind: llm.DeltaText, Text: "d", More: true})
	frame(": nothing\n\n")
	hear(llm.Delta{Kind: llm.DeltaPing})
	if w.count != 2 || w.sent != "data: a\n\ndata: b\n\ndata: c\n\ndata: d\n\n" {
		t.Errorf("sent %d times: %q", w.count, w.sent)
	}
	for _, word := range []string{"e", "f"} { // a frame may come with its first delta
		hear(llm.Delta{Kind: llm.DeltaText, Text: word, Frame: &llm.Frame{Data: []byte("data: " + word + "\n\n")}, More: word == "e"})
	}
	if rest := ": nothing\n\ndata: e\n\ndata: f\n\n"; w.count != 3 || !strings.HasSuffix(w.sent, rest) {
		t.Errorf("sent %d times: %q", w.count, w.sent)
	}
}
