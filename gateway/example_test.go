package gateway_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/mulligan-run/mulligan/gateway"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/timeline"
)

// Runs of a Runner over HTTP: begun by a POST, and followed as server-sent events by whoever
// likes. Outside of an example, a Guard stands before it.
func Example() {
	store := timeline.NewMemory()
	model := llm.ModelFunc(func(context.Context, llm.Request) iter.Seq2[llm.Delta, error] {
		return func(yield func(llm.Delta, error) bool) {
			_ = yield(llm.Delta{Kind: llm.DeltaText, Text: "A second shot."}, nil) && yield(llm.Delta{Kind: llm.DeltaStop, Stop: llm.StopEnd}, nil)
		}
	})
	r := runner.New(runner.WithLog(store), runner.WithModel("lab/one", model))
	server := httptest.NewServer(gateway.New(gateway.Config{Runs: served{r}, Log: store}))
	defer server.Close()

	begun, err := http.Post(server.URL+"/v1/runs", "application/json", strings.NewReader(`{"prompt":"What is a mulligan?"}`))
	if err != nil {
		panic(err)
	}
	var run struct{ ID string }
	if err := json.NewDecoder(begun.Body).Decode(&run); err != nil {
		panic(err)
	}
	_ = begun.Body.Close()
	events, err := http.Get(server.URL + "/v1/runs/" + run.ID + "/events")
	if err != nil {
		panic(err)
	}
	defer func() { _ = events.Body.Close() }()
	for lines := bufio.NewScanner(events.Body); lines.Scan(); {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		var said struct{ Text, Type string }
		if ok && json.Unmarshal([]byte(data), &said) == nil && said.Type != "" {
			fmt.Println(strings.TrimSpace(said.Type + " " + said.Text))
		}
	}
	// Output:
	// started
	// claimed
	// began
	// answered
	// ended Done.
}

// served is what a program does that serves its runner.
type served struct{ *runner.Runner }

func (s served) Start(_ context.Context, b gateway.Start) (string, error) {
	run, err := s.Runner.Start(context.Background(), runner.Request{Prompt: b.Prompt, Session: b.Session, Model: b.Model})
	if err != nil {
		return "", err
	}
	return run.ID(), nil
}

func (s served) Recover(ctx context.Context, run string, a gateway.Answer) error {
	_, err := s.Runner.Recover(context.WithoutCancel(ctx), run, runner.Answer{Suggestion: a.Suggestion, Action: a.Action, Model: a.Model})
	return err
}
