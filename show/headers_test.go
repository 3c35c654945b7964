package show

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
)

// told is the story of a run whose only attempt failed with these headers.
func told(t *testing.T, h *llm.Headers) string {
	t.Helper()
	f := *failure.NewFailure(failure.KindOverloaded, failure.OriginModel, failure.PhaseBeforeFirstEvent, nil)
	var events []recovery.Event
	for i, b := range []recovery.Body{
		recovery.Started{Model: "a/one", Input: []llm.Message{llm.User("hi")}, Policy: recovery.DefaultPolicy()},
		recovery.Claimed{Owner: "o", Epoch: 1},
		recovery.Began{Attempt: 1, Round: 1, Model: "a/one"},
		recovery.Failed{Attempt: 1, Failure: f, Headers: h},
	} {
		events = append(events, recovery.Event{Run: "r1", Seq: uint64(i + 1), Time: time.Unix(1_800_000_000+int64(i), 0), Body: b})
	}
	var out bytes.Buffer
	if err := New(&out, &out).Tell(events); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestHeadersAreTold(t *testing.T) {
	text := told(t, &llm.Headers{
		Sent: []llm.Header{{Name: "Accept", Value: "text/html"}, {Name: "X-Api-Key"}}, SentMore: 2, Received: []llm.Header{{Name: "Retry-After", Value: "3"}},
	})
	for _, line := range []string{"sent with Accept: text/html · X-Api-Key (hidden) · 2 others", "came with Retry-After: 3"} {
		if !strings.Contains(text, "            "+line+"\n") {
			t.Errorf("%q is not in\n%s", line, text)
		}
	}
	if none := told(t, nil); strings.Contains(none, "sent with") {
		t.Error(none)
	}
}

// TestNamesStayWhole: a line is broken between words, and not at a hyphen.
func TestNamesStayWhole(t *testing.T) {
	for n := range 60 {
		text := told(t, &llm.Headers{Sent: []llm.Header{{Name: "Accept", Value: strings.Repeat("a", n+1)}, {Name: "X-Api-Key"}}})
		if !strings.Contains(text, "X-Api-Key") {
			t.Errorf("after %d letters:\n%s", n+1, text)
		}
	}
}

// TestHeadersFit: whatever a server calls itself, no line is wider than a page, and nothing steers the terminal.
func TestHeadersFit(t *testing.T) {
	for _, value := range append([]string{strings.Repeat("wide 漢字 ", 20), strings.Repeat("x", 160)}, steering...) {
		_, headers, ok := strings.Cut(told(t, &llm.Headers{Received: []llm.Header{{Name: "Via", Value: "1.1 first"}, {Name: "Server", Value: value}}}), "came with ")
		if !ok {
			t.Fatal("there are none")
		}
		for line := range strings.SplitSeq(strings.Repeat(" ", 22)+headers, "\n") {
			if ansi.StringWidth(line) > PageWidth || strings.ContainsFunc(line, steers) {
				t.Errorf("%q: %q", value, line)
			}
		}
	}
}
