package client_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/sdk/go/client"
)

// story is a run that fails in mid-answer, asks, and is answered.
func story(t *testing.T) []recovery.Event {
	t.Helper()
	state := &recovery.Run{}
	var log []recovery.Event
	at := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	add := func(b recovery.Body) {
		e := recovery.Event{Run: "r1", Seq: state.Seq + 1, Time: at, Text: recovery.Line(state, b), Body: b}
		if err := state.Apply(e); err != nil {
			t.Fatal(err)
		}
		log = append(log, e)
	}
	policy := recovery.DefaultPolicy()
	policy.Models = []string{"a/one"}
	add(recovery.Started{Model: "a/one", Input: []llm.Message{llm.User("hi")}, Policy: policy})
	add(recovery.Claimed{Owner: "o", Epoch: 1})
	add(recovery.Began{Attempt: 1, Round: 1, Model: "a/one"})
	for range 40 {
		add(recovery.Noted{Topic: recovery.TopicText, Attempt: 1})
	}
	f := failure.NewFailure(failure.KindOverloaded, failure.OriginModel, failure.PhaseMidStream, nil)
	add(recovery.Failed{Attempt: 1, Text: strings.Repeat("x", 40), Failure: *f})
	add(recovery.Decided{Occasion: state.Occasion(), Decision: recovery.Decision{Action: recovery.ActionRetry}})
	for _, e := range recovery.Next(state) {
		add(e.Record)
	}
	add(recovery.Accepted{Suggestion: state.Suggestion.ID, Action: "retry"})
	add(recovery.Began{Attempt: 2, Round: 1, Try: 1, Model: "a/one", Withdraws: 1, Retry: true})
	add(recovery.Answered{Attempt: 2, Message: llm.Message{Role: llm.RoleAssistant, Parts: []llm.Part{{Text: "whole"}}}, Stop: llm.StopEnd})
	add(recovery.Ended{Status: recovery.StatusCompleted, StopReason: "completed"})
	return log
}

// cutting serves a log and cuts most connections somewhere, also in mid-event.
type cutting struct {
	log  []recovery.Event
	mu   sync.Mutex
	dice *rand.Rand
}

func (c *cutting) roll(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.dice.IntN(n)
}

func (c *cutting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	after, _ := strconv.Atoi(r.Header.Get("Last-Event-ID"))
	if c.roll(20) == 0 {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for i, e := range c.log[after:] {
		data, _ := json.Marshal(e)
		run, _ := recovery.Fold(c.log[:after+i+1])
		seen := run.Situation()
		seen.Recovered = "said by the gateway"
		said, _ := json.Marshal(seen)
		text := fmt.Sprintf("event: situation\ndata: %s\n\nid: %d\nevent: event\ndata: %s\n\n", said, e.Seq, data)
		if c.roll(3) == 0 { // a live piece that is late, or early
			text = "event: delta\ndata: {\"run\":\"r1\",\"attempt\":1,\"offset\":7,\"text\":\"xx\"}\n\n" + text
		}
		if c.roll(3) == 0 {
			_, _ = io.WriteString(w, text[:c.roll(len(text))])
			panic(http.ErrAbortHandler)
		}
		_, _ = io.WriteString(w, text)
		w.(http.Flusher).Flush()
	}
	_, _ = io.WriteString(w, "event: end\ndata: {}\n\n")
}

// TestI29EveryEventOnce: whatever the connections do, each event comes once, in order, and
// the view is what the engine itself folds.
func TestI29EveryEventOnce(t *testing.T) {
	log := story(t)
	want, err := recovery.Fold(log)
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(3) {
		server := httptest.NewServer(&cutting{log: log, dice: rand.New(rand.NewPCG(seed, 0))})
		c, err := client.New(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		var view client.View
		for item, err := range c.Follow(t.Context(), "r1", 0) {
			if err == nil {
				err = view.Apply(item)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if view.State.Seq != want.Seq || view.Text() != "whole" || view.Text() != want.Answer() || view.Suggestion() != nil {
			t.Errorf("seed %d: at %d of %d the view says %q", seed, view.State.Seq, want.Seq, view.Text())
		}
		if s := view.Situation(); s.Seq != want.Seq || s.Recovered != "said by the gateway" || s.Stages[0].State != recovery.StateIdle {
			t.Errorf("seed %d: there is to be seen %+v", seed, s)
		}
		server.Close()
	}
}

func TestViewShowsPartialTextAndTheSuggestion(t *testing.T) {
	var view client.View
	for _, e := range story(t) {
		if err := view.Apply(client.Item{Event: &e}); err != nil {
			t.Fatal(err)
		}
		if e.Type() == "began" && e.Seq == 3 {
			for _, d := range []client.Delta{{Attempt: 1, Text: "x"}, {Attempt: 1, Text: "x"}, {Attempt: 9, Text: "no"}, {Attempt: 1, Offset: 5, Text: "gap"}} {
				if err := view.Apply(client.Item{Delta: &d}); err != nil {
					t.Fatal(err)
				}
			}
			if view.Text() != "x" {
				t.Errorf("live text is %q", view.Text())
			}
		}
		if e.Type() == "suggested" {
			if s := view.Suggestion(); s == nil || view.Text() != strings.Repeat("x", 40) {
				t.Errorf("%q with %+v", view.Text(), s)
			}
		}
	}
}

func TestProblemsAreErrors(t *testing.T) {
	status := http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"status":%d,"detail":"no","errors":[{"location":"body.model","message":"it is not known"}]}`, status)
	}))
	defer server.Close()
	c, err := client.New(server.URL, client.WithToken("t"))
	if err != nil {
		t.Fatal(err)
	}
	for code, want := range map[int]error{404: client.ErrNotFound, 409: recovery.ErrAnswered, 410: recovery.ErrExpired, 422: recovery.ErrNoSuchAction} {
		status = code
		err := c.Recover(t.Context(), "r1", client.Answer{Action: "retry"})
		if !errors.Is(err, want) || !strings.Contains(err.Error(), "body.model: it is not known") {
			t.Errorf("%d: %v", code, err)
		}
	}
	for _, err := range c.Follow(t.Context(), "r1", 0) {
		if p, ok := errors.AsType[*client.Problem](err); !ok || p.Status != status {
			t.Errorf("follow: %v", err)
		}
	}
	for _, base := range []string{"", "localhost:1", "ftp://x", "http://"} {
		if _, err := client.New(base); err == nil {
			t.Errorf("%q was taken for the address of a gateway", base)
		}
	}
}
