package tui

import (
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/sdk/go/client"
)

// TestWhatBrokeOffIsSeen, also by whoever heard none of it as it came.
func TestWhatBrokeOffIsSeen(t *testing.T) {
	begun := []recovery.Body{
		recovery.Started{Model: "a/m", Policy: recovery.DefaultPolicy(), Input: []llm.Message{llm.User("hi")}},
		recovery.Claimed{Owner: "o", Epoch: 1},
		recovery.Began{Attempt: 1, Round: 1, Model: "a/m"},
	}
	for name, end := range map[string]recovery.Body{
		"failed":  recovery.Failed{Attempt: 1, Failure: failure.Failure{Kind: failure.KindUnreachable}, Text: "Half of"},
		"stopped": recovery.CancelRequested{Attempt: 1, Text: "Half of"},
	} {
		one := newTurn("hi")
		for i, body := range append(begun, end) {
			e := recovery.Event{Run: "r1", Seq: uint64(i + 1), Time: time.Unix(int64(i), 0), Body: body}
			if err := one.apply(client.Item{Event: &e}); err != nil {
				t.Fatal(name, err)
			}
		}
		last := one.pieces[len(one.pieces)-1]
		if last.kind != pieceAnswer || last.text != "Half of" || !last.partial {
			t.Errorf("%s: the last piece is %+v", name, last)
		}
	}
}
