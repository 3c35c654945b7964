package client_test

import (
	"context"
	"fmt"
	"iter"
	"log"
	"net/http/httptest"

	"github.com/mulligan-run/mulligan/gateway"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/sdk/go/client"
	"github.com/mulligan-run/mulligan/timeline"
)

// A conversation: what its runs start with, a message, and where its run stands.
func ExampleClient_Session() {
	server := exampleGateway()
	defer server.Close()
	c, err := client.New(server.URL) // of `mulligan serve`: client.WithToken(token), too
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	if _, err := c.SetSession(ctx, "golf", client.Defaults{Model: "lab/parrot"}); err != nil {
		log.Fatal(err)
	}
	id, err := c.Start(ctx, client.Start{Prompt: "What is a mulligan?", Session: "golf"})
	if err != nil {
		log.Fatal(err)
	}
	for _, err := range c.Follow(ctx, id, 0) { // to the run's end
		if err != nil {
			log.Fatal(err)
		}
	}
	run, err := c.Run(ctx, id)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(run.Status, run.Answer.Model, run.Answer.Text)

	session, err := c.Session(ctx, "golf")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(session.Defaults.Model, len(session.Runs), session.Runs[0].Title)

	sessions, err := c.Sessions(ctx, 10)
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range sessions {
		fmt.Println(s.ID, s.Runs, s.Last.Status)
	}
	// Output:
	// completed lab/parrot You said: What is a mulligan?
	// lab/parrot 1 What is a mulligan?
	// golf 1 completed
}

// exampleGateway is a gateway whose only model repeats what it is told.
func exampleGateway() *httptest.Server {
	parrot := llm.ModelFunc(func(_ context.Context, req llm.Request) iter.Seq2[llm.Delta, error] {
		return func(yield func(llm.Delta, error) bool) {
			said := req.Messages[len(req.Messages)-1].Text()
			_ = yield(llm.Delta{Kind: llm.DeltaText, Text: "You said: " + said}, nil) &&
				yield(llm.Delta{Kind: llm.DeltaStop, Stop: llm.StopEnd}, nil)
		}
	})
	store := timeline.NewMemory()
	r := runner.New(runner.WithLog(store), runner.WithModel("lab/parrot", parrot))
	return httptest.NewServer(gateway.New(gateway.Config{Runs: exampleRuns{r}, Log: store, Version: "example"}))
}

// exampleRuns is what a program does that serves its runner.
type exampleRuns struct{ *runner.Runner }

func (r exampleRuns) Start(_ context.Context, s gateway.Start) (string, error) {
	run, err := r.Runner.Start(context.Background(), runner.Request{Prompt: s.Prompt, Session: s.Session, Model: s.Model})
	if err != nil {
		return "", err
	}
	return run.ID(), nil
}

func (r exampleRuns) Recover(_ context.Context, run string, a gateway.Answer) error {
	_, err := r.Runner.Recover(context.Background(), run, runner.Answer{Suggestion: a.Suggestion, Action: a.Action, Model: a.Model})
	return err
}
