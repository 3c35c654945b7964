package show

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
)

// evil does all that a text can do to a terminal.
const evil = "a\x1b[31mR\u009b2J\u202eB\x1b]0;title\aC\u2066D\x7f"

// TestS33NothingInARunSteersTheTerminal: whatever is in an event, of a type and by a name that nobody
// knows, too, a story is text. Runs are imported, and their tools, plugins, models and callers name themselves.
func TestS33NothingInARunSteersTheTerminal(t *testing.T) {
	for _, e := range hostileEvents(t) {
		for _, colours := range []Ink{false, true} {
			var out bytes.Buffer
			screen := New(&out, &out)
			screen.Ink = colours
			s := &story{Screen: screen, run: &recovery.Run{}}
			s.event(e)
			if said := undrawn.Replace(out.String()); strings.ContainsFunc(said, steers) {
				t.Errorf("%s: %q", e.Type(), said)
			}
		}
	}
}

// undrawn takes the styles of Ink away.
var undrawn = strings.NewReplacer("\x1b[0m", "", "\x1b[1m", "", "\x1b[2m", "", "\x1b[31m", "", "\x1b[32m", "", "\x1b[33m", "", "\x1b[36m", "")

// hostileEvents are one event of each type that a story tells, with evil in all its texts.
func hostileEvents(t *testing.T) []recovery.Event {
	text, _ := json.Marshal(evil)
	f := failure.Failure{Kind: evil, Code: evil, Phase: evil, Row: evil, Timer: evil, RequestID: evil, Title: evil, Message: evil, Detail: evil, Provider: evil, Model: evil}
	by := &recovery.Voter{Plugin: evil, Version: evil, Reason: evil}
	bodies := []recovery.Body{
		recovery.Started{Model: evil, Input: []llm.Message{llm.User(evil)}, Labels: recovery.Labels{evil: evil}, Policy: recovery.Policy{Models: []string{evil}, Plugins: []string{evil}}},
		recovery.Claimed{Owner: evil, Epoch: 1},
		recovery.Began{Attempt: 1, Model: evil, Try: 1, Again: true},
		recovery.Answered{Attempt: 1, Message: llm.Message{Parts: []llm.Part{{Text: evil}, {Call: &llm.ToolCall{Name: evil, Args: text}}}}},
		recovery.Failed{Attempt: 1, Failure: f, Headers: &llm.Headers{Received: []llm.Header{{Name: evil, Value: evil}}}, Cooling: []recovery.Cooldown{{Model: evil, Kind: evil}}},
		recovery.Voted{Vote: recovery.Vote{Plugin: evil, Reason: evil, Action: evil, NewModel: evil}},
		recovery.Voted{Vote: recovery.Vote{Plugin: evil, Error: evil, Shadow: true}},
		recovery.Decided{Decision: recovery.Decision{Action: recovery.ActionSwitchModel, NewModel: evil, By: by, BlockedBy: evil, Words: evil, Ignored: []string{evil}}},
		recovery.Waiting{For: evil, Model: evil},
		recovery.Due{Timer: evil},
		recovery.ToolBegan{Name: evil, By: evil, Try: 1},
		recovery.ToolReturned{Result: llm.ToolResult{Name: evil, Text: evil}, Outcome: evil},
		recovery.Suggested{Suggestion: recovery.Suggestion{ID: evil, SuggestedAction: recovery.ActionSwitchModel, NewModel: evil}},
		recovery.Suggested{Suggestion: recovery.Suggestion{ID: evil, SuggestedAction: evil}},
		recovery.Accepted{Suggestion: evil, Action: evil, Model: evil},
		recovery.Noted{Topic: evil, What: evil, Detail: evil},
		recovery.Ended{Status: evil, StopReason: evil},
		recovery.Unknown{Type: evil},
	}
	events := make([]recovery.Event, len(bodies))
	for i, b := range bodies {
		events[i] = recovery.Event{Run: evil, Seq: uint64(i + 3), Time: time.Unix(1_800_000_000, 0), Text: evil, Body: b}
	}
	return events
}

// TestLinesKeepTheirColours: what a line is drawn with stays, and nothing else.
func TestLinesKeepTheirColours(t *testing.T) {
	var out bytes.Buffer
	s := New(&out, &out)
	s.Ink = true
	s.Line(s.Ink.Red("red") + evil)
	s.Print(s.Ink.Bold("bold") + evil)
	s.Table([][]string{{evil, s.Ink.Dim("dim")}})
	const left = "a\x1b[31mR2JB]0;titleCD"
	if want := fmt.Sprintf("\x1b[31mred\x1b[0m%s\n\x1b[1mbold\x1b[0m%s\n%s", left, left, left); !strings.HasPrefix(out.String(), want) {
		t.Errorf("%q", out.String())
	}
}
