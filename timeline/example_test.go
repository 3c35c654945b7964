package timeline_test

import (
	"context"
	"fmt"
	"time"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// Whoever drives a run claims it and appends; everybody else follows from a cursor.
func Example() {
	ctx := context.Background()
	log := timeline.NewMemory() // sqlite.Open and postgres.Open give the same
	lease, err := log.Claim(ctx, "r1", "me", time.Minute)
	if err != nil {
		panic(err)
	}
	for i, body := range []recovery.Body{
		recovery.Started{Model: "lab/one", Input: []llm.Message{llm.User("hi")}, Labels: recovery.Labels{"tenant": "acme"}},
		recovery.Claimed{Owner: "me", Epoch: lease.Epoch},
		recovery.Ended{Status: recovery.StatusCancelled, StopReason: "cancelled"},
	} {
		e := recovery.Event{Run: "r1", Seq: uint64(i) + 1, Time: time.Now(), Body: body}
		if err := log.Append(ctx, lease, uint64(i), e); err != nil { // refused to whoever lost the lease
			panic(err)
		}
	}

	for item, err := range log.Follow(ctx, "r1", 0) { // 0: from its first event
		if err != nil {
			panic(err)
		}
		if item.Event != nil {
			fmt.Printf("%d %T\n", item.Event.Seq, item.Event.Body)
		}
	}
	runs, err := log.List(ctx, timeline.Query{Labels: recovery.Labels{"tenant": "acme"}})
	fmt.Println(len(runs), runs[0].Status, err)
	// Output:
	// 1 recovery.Started
	// 2 recovery.Claimed
	// 3 recovery.Ended
	// 1 cancelled <nil>
}
