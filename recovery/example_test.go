package recovery_test

import (
	"fmt"
	"time"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
)

// A run is what its events amount to, and Next is what should be going on: the whole engine,
// without a clock or a network.
func Example() {
	start := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	run := &recovery.Run{}
	seq := uint64(0)
	write := func(b recovery.Body) {
		seq++
		if err := run.Apply(recovery.Event{Run: "r1", Seq: seq, Time: start.Add(time.Duration(seq) * time.Second), Body: b}); err != nil {
			panic(err)
		}
	}
	write(recovery.Started{Model: "lab/one", Input: []llm.Message{llm.User("What is a mulligan?")}, Policy: recovery.DefaultPolicy()})
	write(recovery.Claimed{Owner: "me", Epoch: 1})

	for _, effect := range recovery.Next(run) {
		if effect.Call != nil {
			fmt.Println("wanted: a call of", effect.Call.Intent.Model)
			write(effect.Call.Intent) // durable before the call starts
		}
	}
	answer := llm.Message{Role: llm.RoleAssistant, Model: "lab/one", Parts: []llm.Part{{Text: "A second shot."}}}
	write(recovery.Answered{Attempt: 1, Message: answer, Stop: llm.StopEnd})
	for _, effect := range recovery.Next(run) {
		if effect.Record != nil {
			write(effect.Record) // what follows by itself
		}
	}
	fmt.Println(run.Status, run.Answer())
	// Output:
	// wanted: a call of lab/one
	// completed A second shot.
}
