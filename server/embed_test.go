package server_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/plugins/autorecover"
	"github.com/mulligan-run/mulligan/provider"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/timeline"
)

// The service of docs/embed.md.
func Example_embed() {
	lab := faultlab.New()
	lab.Script("quill-1",
		faultlab.RateLimited(time.Second),
		faultlab.ToolCall("orders", `{}`),
		faultlab.Answer("You have two open orders."))
	fake, err := lab.Listen("127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	defer func() { _ = fake.Close() }()
	models, err := provider.New([]provider.Entry{
		{Name: "lab", Type: "openai", BaseURL: fake.URL() + "/v1", Key: "any"},
	})
	if err != nil {
		panic(err)
	}

	backoff := hooks.Func(func(_ context.Context, e hooks.RunError) (recovery.Vote, error) {
		if e.Failure.Kind == "rate_limit" {
			return recovery.Vote{Action: recovery.ActionRetry, Delay: e.Failure.RetryAfter, Reason: "it said when"}, nil
		}
		return recovery.Vote{}, nil // no opinion: the next one is asked
	})

	service, stop := context.WithCancelCause(context.Background())
	defer stop(runner.ErrLetGo) // runs that go on are let go of; without the cause they would be cancelled
	log := timeline.NewMemory() // or sqlite.Open, which outlives this process, or postgres.Open, which several share
	r := runner.New(
		runner.WithModels(models, "lab/quill-1"), runner.WithLog(log), runner.WithDetached(service),
		runner.WithAutoRecover(true), runner.WithHook("backoff", backoff), runner.WithHook(autorecover.Name, autorecover.Hook()))

	orders := runner.Tool{
		Name: "orders", Description: "The open orders of whoever asks.", Safety: recovery.SafetyReadOnly,
		Run: func(_ context.Context, call runner.ToolCall) (string, error) {
			return "two open orders of " + call.Labels["tenant"], nil
		},
	}
	request, done := context.WithTimeout(service, 10*time.Second) // ends long before the run may
	run, err := r.Start(request, runner.Request{
		Prompt: "What is open?", Tools: []runner.Tool{orders}, Labels: recovery.Labels{"tenant": "acme"},
	})
	done()
	if err != nil {
		panic(err) // nothing has begun
	}

	for item, err := range r.Follow(service, run.ID(), 0) {
		switch {
		case err != nil:
			panic(err)
		case item.Event != nil && item.Event.Text != "":
			fmt.Println(item.Event.Text) // a line for people; item.Delta has the text as it comes
		}
	}

	result, err := run.Wait(service)
	fmt.Println(result.Text, err)

	list, err := log.List(service, timeline.Query{Labels: recovery.Labels{"tenant": "acme"}})
	fmt.Println(len(list), "run of acme", err)
	// Output:
	// lab asked to slow down. This key has sent too many requests. lab accepts more in 1 s.
	// lab asked to slow down. Retrying in 1 s… (attempt 1/3)
	// Recovered after 1 retry
	// Done.
	// You have two open orders. <nil>
	// 1 run of acme <nil>
}

// TestEmbedPageIsTheExample: every Go block of the page is a piece of the example, or of
// the service in examples.
func TestEmbedPageIsTheExample(t *testing.T) {
	page, err := os.ReadFile("../docs/embed.md")
	if err != nil {
		t.Fatal(err)
	}
	var code string
	for _, file := range []string{"embed_test.go", "../examples/service/main.go"} {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		code += flat(string(source))
	}
	blocks := strings.Split(string(page), "```go\n")[1:]
	if len(blocks) < 6 {
		t.Fatalf("%d blocks", len(blocks))
	}
	for _, block := range blocks {
		block, _, _ = strings.Cut(block, "```")
		if !strings.Contains(code, flat(block)) {
			t.Errorf("the example has no\n%s", block)
		}
	}
}

// flat leaves out how lines are indented.
func flat(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, strings.TrimSpace(line))
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}
