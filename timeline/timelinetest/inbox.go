package timelinetest

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

func send(t *testing.T, log timeline.Log, run, id string, body recovery.Body) uint64 {
	t.Helper()
	n, err := log.Send(t.Context(), run, timeline.Command{ID: id, Body: body})
	if err != nil {
		t.Fatalf("send %s: %v", id, err)
	}
	return n
}

func testInbox(t *testing.T, log timeline.Log) {
	claim(t, log, "r", "a")
	claim(t, log, "q", "a")
	for i, id := range []string{"x", "y", "z"} {
		if n := send(t, log, "r", id, recovery.CancelRequested{}); n != uint64(i)+1 {
			t.Errorf("%s has position %d", id, n)
		}
	}
	if n := send(t, log, "r", "y", recovery.CancelRequested{}); n != 2 {
		t.Errorf("y again has position %d", n)
	}
	if n := send(t, log, "q", "y", recovery.CancelRequested{}); n != 1 {
		t.Errorf("y in another run has position %d", n)
	}
	_, err := log.Send(t.Context(), "nobody", timeline.Command{ID: "x", Body: recovery.CancelRequested{}})
	wantError(t, "send to an unknown run", err, timeline.ErrNotFound)
	if _, err := log.Send(t.Context(), "r", timeline.Command{Body: recovery.CancelRequested{}}); err == nil {
		t.Error("a command without an id was taken")
	}
	if _, err := log.Send(t.Context(), "r", timeline.Command{ID: "empty"}); err == nil {
		t.Error("a command without a body was taken")
	}
	for _, c := range []struct {
		after uint64
		limit int
		want  string
	}{{0, 0, "x y z"}, {1, 0, "y z"}, {1, 1, "y"}, {3, 0, ""}, {9, 0, ""}} {
		list, err := log.Inbox(t.Context(), "r", c.after, c.limit)
		var ids []string
		for _, command := range list {
			ids = append(ids, command.ID)
		}
		if got := strings.Join(ids, " "); err != nil || got != c.want {
			t.Errorf("%d commands after %d: %q, %v; want %q", c.limit, c.after, got, err, c.want)
		}
	}
	_, err = log.Inbox(t.Context(), "nobody", 0, 0)
	wantError(t, "the inbox of an unknown run", err, timeline.ErrNotFound)
	for _, err := range log.Commands(bounded(t), "nobody", 0) {
		wantError(t, "commands of an unknown run", err, timeline.ErrNotFound)
	}
}

func testInboxRace(t *testing.T, log timeline.Log) {
	claim(t, log, "r", "a")
	var mu sync.Mutex
	positions := map[uint64]string{}
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			id := fmt.Sprint("id", i%10)
			n, err := log.Send(t.Context(), "r", timeline.Command{ID: id, Body: recovery.CancelRequested{}})
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			if other, ok := positions[n]; ok && other != id {
				t.Errorf("position %d is %s's and %s's", n, id, other)
			}
			positions[n] = id
		})
	}
	wg.Wait()
	for n := range uint64(10) {
		if positions[n+1] == "" {
			t.Errorf("nothing at position %d", n+1)
		}
	}
}

func testCommands(t *testing.T, log timeline.Log) {
	claim(t, log, "r", "a")
	want := recovery.Accepted{Suggestion: "s", Action: "a1", Model: "lab/two"}
	send(t, log, "r", "c1", recovery.CancelRequested{})
	send(t, log, "r", "c2", want)
	next := uint64(2)
	for c, err := range log.Commands(bounded(t), "r", 1) {
		if err != nil {
			t.Fatal(err)
		}
		if c.N != next || c.ID != fmt.Sprint("c", next) {
			t.Fatalf("command %d %s, want %d", c.N, c.ID, next)
		}
		if got, ok := c.Body.(recovery.Accepted); !ok || got != want {
			t.Errorf("body %+v", c.Body)
		}
		if next++; next > 100 {
			return
		}
		go func() { // a command may come while the owner waits
			_, _ = log.Send(t.Context(), "r", timeline.Command{ID: fmt.Sprint("c", next), Body: want})
		}()
	}
	t.Fatal("the commands stopped")
}
