package aisdk_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/gateway/internal/aisdk"
	"github.com/mulligan-run/mulligan/gateway/internal/tell"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
)

// checkFrames gives the types of a stream's chunks, which are each one line of JSON.
func checkFrames(t *testing.T, frames []byte) []string {
	t.Helper()
	var kinds []string
	for _, frame := range strings.SplitAfter(string(frames), "\n\n") {
		data, ok := strings.CutPrefix(frame, "data: ")
		if frame == "" || data == "[DONE]\n\n" {
			continue
		}
		var chunk struct{ Type string }
		if err := json.Unmarshal([]byte(data), &chunk); !ok || err != nil || strings.Count(data, "\n") != 2 || chunk.Type == "" {
			t.Fatalf("%q: %v", frame, err)
		}
		kinds = append(kinds, chunk.Type)
	}
	if !bytes.HasSuffix(frames, []byte("data: [DONE]\n\n")) {
		t.Errorf("%q has no end", frames)
	}
	return kinds
}

// TestStepsAndTools: what a tool returned stands with its call, and a step for each model call.
func TestStepsAndTools(t *testing.T) {
	v := aisdk.New("r1")
	v.Step("1")
	v.Thinking("hm")
	v.Text("Let me look.")
	v.Call(llm.ToolCall{ID: "c1", Name: "weather", Args: []byte(`{}`)})
	v.Returned(llm.ToolResult{CallID: "c1", Text: ""}, recovery.OutcomeOK)
	v.Returned(llm.ToolResult{CallID: "c1", IsError: true}, recovery.OutcomeOK)
	v.Step("2")
	v.Text("Rain.")
	v.End(tell.End{Run: "r1", Status: recovery.StatusCompleted, Truncated: true})
	frames, err := v.Take()
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(checkFrames(t, frames), " ")
	want := "start start-step reasoning-start reasoning-delta reasoning-end text-start text-delta text-end tool-input-available tool-output-available tool-output-error " +
		"finish-step start-step text-start text-delta text-end finish-step finish"
	if got != want {
		t.Errorf("%s\nnot %s", got, want)
	}
	for _, want := range []string{`"output":""`, `"providerExecuted":true`, `"finishReason":"length"`} {
		if !bytes.Contains(frames, []byte(want)) {
			t.Errorf("%s is missing:\n%s", want, frames)
		}
	}
}

// TestHistoryOfARunWithTools: a page that is loaded has what there was, and of a run that goes on what
// the user said.
func TestHistoryOfARunWithTools(t *testing.T) {
	at := time.Date(2026, 3, 2, 9, 30, 0, 0, time.UTC)
	var events []recovery.Event
	for i, b := range []recovery.Body{
		recovery.Started{Model: "a/one", Input: []llm.Message{llm.User("hi")}, Policy: recovery.DefaultPolicy()},
		recovery.Claimed{Owner: "x", Epoch: 1},
		recovery.Began{Attempt: 1, Round: 1, Model: "a/one"},
		recovery.Answered{Attempt: 1, Stop: llm.StopToolUse, Message: llm.Message{Role: llm.RoleAssistant, Parts: []llm.Part{
			{Text: "Let me look."}, {Call: &llm.ToolCall{ID: "c1", Name: "weather", Args: []byte(`{}`)}},
		}}},
		recovery.ToolBegan{CallID: "c1", Name: "weather"},
		recovery.ToolReturned{CallID: "c1", Outcome: recovery.OutcomeOK, Result: llm.ToolResult{CallID: "c1", Name: "weather", Text: "rain"}},
		recovery.Began{Attempt: 2, Round: 2, Model: "a/one"},
		recovery.Failed{Attempt: 2, Text: "It r", Failure: *failure.NewFailure(failure.KindOverloaded, failure.OriginModel, failure.PhaseMidStream, nil)},
		recovery.Ended{Status: recovery.StatusFailed, StopReason: "failed"},
	} {
		events = append(events, recovery.Event{Run: "r1", Seq: uint64(i + 1), Time: at, Body: b})
	}
	run, err := recovery.Fold(events)
	if err != nil {
		t.Fatal(err)
	}
	said, err := json.Marshal(aisdk.History(run, at))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`{"id":"r1-user","role":"user","parts":[{"type":"text","text":"hi","state":"done"}]}`,
		`{"type":"step-start"},{"type":"text","text":"Let me look.","state":"done"},{"type":"dynamic-tool","state":"output-available","toolCallId":"c1","toolName":"weather","input":{},"output":"rain","providerExecuted":true}`,
		`{"type":"step-start"},{"type":"text","text":"It r","state":"done"},{"type":"data-recovery"`,
	} {
		if !bytes.Contains(said, []byte(want)) {
			t.Errorf("%s is missing:\n%s", want, said)
		}
	}
	if run, err = recovery.Fold(events[:5]); err != nil {
		t.Fatal(err)
	}
	if list := aisdk.History(run, at); len(list) != 1 || list[0].Role != "user" {
		t.Errorf("%+v", list)
	}
}
