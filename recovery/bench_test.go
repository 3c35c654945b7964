package recovery

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/llm"
)

// longLog is a run of about n events: round after round of a call and its tool.
func longLog(n int) []Event {
	p := DefaultPolicy()
	bodies := []Body{Started{Model: "a/one", Input: []llm.Message{llm.User("hello")}, Policy: p}, Claimed{Owner: "o", Epoch: 1}}
	for i := 1; len(bodies) < n; i++ {
		call := llm.ToolCall{ID: fmt.Sprint("c", i), Name: "look", Args: json.RawMessage(`{}`)}
		bodies = append(
			bodies,
			Began{Attempt: uint64(i), Round: i, Model: "a/one"},
			Answered{Attempt: uint64(i), Message: llm.Message{Role: llm.RoleAssistant, Parts: []llm.Part{{Call: &call}}}},
			ToolBegan{CallID: call.ID, Name: call.Name},
			ToolReturned{CallID: call.ID, Outcome: OutcomeOK},
		)
	}
	log := make([]Event, len(bodies))
	for i, b := range bodies {
		log[i] = Event{Run: "r1", Seq: uint64(i + 1), Time: begin.Add(time.Duration(i) * time.Second), Body: b}
	}
	return log
}

// BenchmarkApply is the cost of one event, by the length of the run before it.
func BenchmarkApply(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		log := longLog(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			r := &Run{}
			i := 0
			for b.Loop() {
				if i == len(log) {
					i, r = 0, &Run{}
				}
				if err := r.Apply(log[i]); err != nil {
					b.Fatal(err)
				}
				i++
			}
		})
	}
}

// BenchmarkNext is the cost of one question at the end of a run.
func BenchmarkNext(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		r, err := Fold(longLog(n))
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Next(r)
			}
		})
	}
}
