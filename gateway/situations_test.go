package gateway_test

import (
	"bufio"
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/gateway"
	"github.com/mulligan-run/mulligan/recovery"
)

// saidOn gives the situations of a stream, up to the event of that number, and the numbers of the events
// before which they came.
func saidOn(t *testing.T, url, lastID string, until uint64) (said []gateway.Situation, before []uint64) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Last-Event-ID", lastID)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	kind, fresh := "", false
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ": ")
		switch {
		case name == "event":
			kind = value
		case name == "data" && kind == "situation":
			var s gateway.Situation
			if err := json.Unmarshal([]byte(value), &s); err != nil {
				t.Fatal(err)
			}
			said, fresh = append(said, s), true
		case name == "data" && kind == "event":
			var e recovery.Event
			if err := json.Unmarshal([]byte(value), &e); err != nil {
				t.Fatal(err)
			}
			if fresh {
				before, fresh = append(before, e.Seq), false
			}
			if e.Seq == until {
				return said, before
			}
		}
	}
	t.Fatalf("the stream ended before event %d: %v", until, lines.Err())
	return nil, nil
}

// TestSituations: a follower of a run gets its situation right before the event that changed it,
// and none for past events; so does one that reconnects. The document of the run says the same.
func TestSituations(t *testing.T) {
	w := newWritten()
	s := serve(t, w)
	var run gateway.Run
	call(t, "POST", s.URL+"/v1/runs", `{"prompt":"hi"}`, nil, &run)
	w.fail(t, "r1")
	state, err := w.Inspect(t.Context(), "r1")
	if err != nil {
		t.Fatal(err)
	}
	last, want := state.Seq, state.Situation()
	said, before := saidOn(t, s.URL+"/v1/runs/r1/events", "", last)
	if len(said) != 1 || before[0] != last || said[0].Run != "r1" || !reflect.DeepEqual(said[0].Situation, want) || want.Suggestion == "" {
		t.Errorf("of what had happened: %+v before %v, want %+v", said, before, want)
	}
	if again, _ := saidOn(t, s.URL+"/v1/runs/r1/events", "2", last); len(again) != 1 || !reflect.DeepEqual(again[0].Situation, want) {
		t.Errorf("who comes back is told %+v", again)
	}
	var document gateway.Run
	call(t, "GET", s.URL+"/v1/runs/r1", "", nil, &document)
	if !reflect.DeepEqual(document.Situation, want) {
		t.Errorf("the document says %+v", document.Situation)
	}
	if err := w.write("r1", recovery.Noted{Topic: recovery.TopicTooLate}); err != nil {
		t.Fatal(err)
	}
	if _, before := saidOn(t, s.URL+"/v1/runs/r1/events", "", last+1); len(before) != 1 || before[0] != last+1 {
		t.Errorf("it came before %v", before)
	}
}
