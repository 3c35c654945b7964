package client_test

import (
	"context"
	"errors"
	"iter"
	"net"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/advice"
	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/gateway"
	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/sdk/go/client"
	"github.com/mulligan-run/mulligan/timeline"
)

// advised is a client of a gateway whose plugin switches to what can be called instead.
func advised(t *testing.T) *client.Client {
	t.Helper()
	switches := hooks.Func(func(_ context.Context, e hooks.RunError) (recovery.Vote, error) {
		if len(e.Alternatives) == 0 {
			return recovery.Vote{}, nil
		}
		return recovery.Vote{Action: recovery.ActionSwitchModel, NewModel: e.Alternatives[0].Model}, nil
	})
	log := timeline.NewMemory()
	r := runner.New(runner.WithLog(log), runner.WithHook("p", switches), runner.WithAutoRecover(true))
	desk := &advice.Desk{Runs: r, Classify: failure.Classify}
	return of(t, gateway.Config{Runs: exampleRuns{r}, Log: log, Advice: desk})
}

// of is a client of a gateway.
func of(t *testing.T, cfg gateway.Config) *client.Client {
	t.Helper()
	server := httptest.NewServer(gateway.New(cfg))
	t.Cleanup(server.Close)
	c, err := client.New(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestAdvice(t *testing.T) {
	c := advised(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // this computer may be busy
	defer cancel()
	off := false
	failed := client.Failed{Call: "c", Model: "anthropic/claude", Alternatives: []string{"openai/gpt"}, Failure: client.Evidence{Status: 529}}
	a, err := c.Decide(ctx, failed)
	if err != nil || !a.Acts() || a.Decision.NewModel != "openai/gpt" || a.Failure.Kind != failure.KindOverloaded || len(a.Votes) != 1 {
		t.Fatalf("%+v, %v", a, err)
	}
	asks := failed
	asks.Call, asks.AutoRecover = "d", &off
	if a, err := c.Decide(ctx, asks); err != nil || a.Acts() || a.RecoverySuggestion == nil {
		t.Errorf("who does not act by itself is told %+v, %v", a, err)
	}
	if err := c.Outcome(ctx, client.Outcome{Call: "c", OK: true}); err != nil {
		t.Error(err)
	}
	if run, err := c.Run(ctx, a.Run); err != nil || run.Status != recovery.StatusCompleted {
		t.Errorf("its run is %+v, %v", run, err)
	}
	if err := c.Outcome(ctx, client.Outcome{Call: "nobody's", OK: true}); !errors.Is(err, client.ErrNotFound) {
		t.Error(err)
	}
	failed.Model = "claude"
	if _, err := c.Decide(ctx, failed); err == nil {
		t.Error("a model without a provider was asked about")
	}
}

// TestAdviceFailsOpen: a gateway that says nothing is waited for no longer than the contract says.
func TestAdviceFailsOpen(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	c, err := client.New("http://" + silent.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := c.Decide(context.WithoutCancel(t.Context()), client.Failed{Call: "c", Model: "a/b"})
		done <- err
	}()
	select {
	case err := <-done:
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Error("it waits without end")
	}
}

// TestKindsAndLearn: a correction comes to the gateway, and what came of it back.
func TestKindsAndLearn(t *testing.T) {
	log := timeline.NewMemory()
	r := runner.New(runner.WithLog(log), runner.WithModel("a/one", llm.ModelFunc(overloaded)))
	learn := func(f failure.Failure, kind failure.Kind) (gateway.Lesson, error) {
		return gateway.Lesson{Before: f.Kind, After: kind, Row: "- {kind: billing}", File: "/there", Warning: "mind it"}, nil
	}
	c := of(t, gateway.Config{Runs: exampleRuns{r}, Log: log, Learn: learn})
	id, err := c.Start(t.Context(), client.Start{Prompt: "hi"})
	if err != nil {
		t.Fatal(err)
	}
	for item, err := range c.Follow(t.Context(), id, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if item.Event != nil && item.Event.Type() == "suggested" {
			break
		}
	}
	kinds, err := c.Kinds(t.Context())
	if err != nil || len(kinds) != len(failure.LocalKinds()) || kinds[0].Retryable != kinds[0].Kind.Retryable() {
		t.Errorf("%+v, %v", kinds, err)
	}
	want := client.Lesson{Before: failure.KindOverloaded, After: failure.KindBilling, Row: "- {kind: billing}", File: "/there", Warning: "mind it"}
	if got, err := c.Learn(t.Context(), id, failure.KindOverloaded, failure.KindBilling); err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	if p, ok := errors.AsType[*client.Problem](second(c.Learn(t.Context(), id, failure.KindAuth, failure.KindBilling))); !ok || p.Status != 409 {
		t.Errorf("of another error: %v", p)
	}
}

// overloaded is a model that fails.
func overloaded(context.Context, llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		yield(llm.Delta{}, failure.NewFailure(failure.KindOverloaded, failure.OriginModel, failure.PhaseBeforeFirstEvent, nil))
	}
}

func second[T any](_ T, err error) error { return err }
