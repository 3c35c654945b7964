package bench

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/timeline"
)

// BenchmarkApplyNext folds the log of a run with a tool call and a failure, calling Next after
// every event; the times are per event. The baseline decodes the same events from their stored
// form, which folding a log requires anyway.
func BenchmarkApplyNext(b *testing.B) {
	events := storyLog(b)
	var stored [][]byte
	for _, e := range events {
		data, err := json.Marshal(e)
		if err != nil {
			b.Fatal(err)
		}
		stored = append(stored, data)
	}
	var fold, decode spans
	for b.Loop() {
		fold.time(func() {
			run := &recovery.Run{}
			for _, e := range events {
				if err := run.Apply(e); err != nil {
					b.Fatal(err)
				}
				recovery.Next(run)
			}
		})
		decode.time(func() {
			for _, data := range stored {
				var e recovery.Event
				if err := json.Unmarshal(data, &e); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	fold.each(len(events)).report(b, "")
	decode.each(len(events)).report(b, base)
}

// storyLog is the log of a run: a tool call, a 503, a retry, an answer.
func storyLog(b *testing.B) []recovery.Event {
	b.Helper()
	var calls int
	model := llm.ModelFunc(func(context.Context, llm.Request) iter.Seq2[llm.Delta, error] {
		calls++
		return story(calls)
	})
	retry := hooks.Func(func(context.Context, hooks.RunError) (recovery.Vote, error) {
		return recovery.Vote{Action: recovery.ActionRetry}, nil
	})
	log := timeline.NewMemory()
	r := runner.New(
		runner.WithLog(log), runner.WithModel("a/one", model), runner.WithAutoRecover(true), runner.WithHook("retry", retry),
		runner.WithTools(runner.Tool{
			Name: "weather",
			Run:  func(context.Context, runner.ToolCall) (string, error) { return "clear", nil },
		}),
	)
	run, err := r.Start(b.Context(), runner.Request{Prompt: "What is the weather in Oslo?"})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := run.Wait(b.Context()); err != nil {
		b.Fatal(err)
	}
	events, err := log.Read(b.Context(), run.ID(), 0, 0)
	if err != nil {
		b.Fatal(err)
	}
	return events
}

func story(call int) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		var said []llm.Delta
		switch call {
		case 1:
			said = []llm.Delta{
				{Kind: llm.DeltaCall, CallID: "c1", Name: "weather"},
				{Kind: llm.DeltaArgs, Text: `{"city":"Oslo"}`},
				{Kind: llm.DeltaStop, Stop: llm.StopToolUse},
			}
		case 2:
			yield(llm.Delta{}, failure.Classify(failure.Evidence{Status: http.StatusServiceUnavailable}))
			return
		default:
			said = []llm.Delta{{Kind: llm.DeltaText, Text: answerText}, {Kind: llm.DeltaStop, Stop: llm.StopEnd}}
		}
		for _, d := range said {
			if !yield(d, nil) {
				return
			}
		}
	}
}

// BenchmarkClassify classifies a 4 KiB error body whose code says nothing, so that all its words
// are read. The baseline only checks that it is JSON.
func BenchmarkClassify(b *testing.B) {
	const begin, end = `{"error":{"type":"server_error","message":"`, `"}}`
	filler := strings.Repeat("the server had a problem with your request and ", 100)
	body := []byte(begin + filler[:4096-len(begin)-len(end)] + end)
	evidence := failure.Evidence{
		Status: http.StatusBadRequest, Body: body, Model: "a/one", Provider: "a",
		Header: map[string][]string{"Content-Type": {"application/json"}, "X-Request-Id": {"req_1"}},
	}
	var classify, valid spans
	for b.Loop() {
		classify.time(func() { failure.Classify(evidence) })
		valid.time(func() {
			if !json.Valid(body) {
				b.Fatal("not JSON")
			}
		})
	}
	classify.report(b, "")
	valid.report(b, base)
}
