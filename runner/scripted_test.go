package runner_test

import (
	"context"
	"iter"
	"sync"

	"github.com/mulligan-run/mulligan/llm"
)

// scripted is a model whose n-th call plays the n-th step; the last one repeats.
type scripted struct {
	mu       sync.Mutex
	steps    []step
	requests []llm.Request
}

// step yields deltas; what it returns ends the stream.
type step func(ctx context.Context, hear func(llm.Delta) bool) error

func script(steps ...step) *scripted { return &scripted{steps: steps} }

func (s *scripted) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Delta, error] {
	s.mu.Lock()
	n := min(len(s.requests), len(s.steps)-1)
	s.requests = append(s.requests, req)
	s.mu.Unlock()
	return func(yield func(llm.Delta, error) bool) {
		going := true
		err := s.steps[n](ctx, func(d llm.Delta) bool {
			going = going && yield(d, nil)
			return going
		})
		if going && err != nil {
			yield(llm.Delta{}, err)
		}
	}
}

func (s *scripted) calls() []llm.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]llm.Request(nil), s.requests...)
}

func answers(text string) step {
	return func(_ context.Context, hear func(llm.Delta) bool) error {
		hear(llm.Delta{Kind: llm.DeltaStart})
		hear(llm.Delta{Kind: llm.DeltaText, Text: text})
		hear(llm.Delta{Kind: llm.DeltaUsage, Usage: llm.Usage{InputTokens: 10, OutputTokens: 5}})
		hear(llm.Delta{Kind: llm.DeltaStop, Stop: llm.StopEnd})
		return nil
	}
}

func callsTool(id, name, args string) step {
	return func(_ context.Context, hear func(llm.Delta) bool) error {
		hear(llm.Delta{Kind: llm.DeltaStart})
		hear(llm.Delta{Kind: llm.DeltaCall, CallID: id, Name: name})
		hear(llm.Delta{Kind: llm.DeltaArgs, Text: args})
		hear(llm.Delta{Kind: llm.DeltaStop, Stop: llm.StopToolUse})
		return nil
	}
}

// fails says text, if any, and ends with err; a nil err is a cut stream.
func fails(text string, err error) step {
	return func(_ context.Context, hear func(llm.Delta) bool) error {
		hear(llm.Delta{Kind: llm.DeltaStart})
		if text != "" {
			hear(llm.Delta{Kind: llm.DeltaText, Text: text})
		}
		return err
	}
}

// stalls says text and then nothing until it is stopped.
func stalls(text string) step {
	return func(ctx context.Context, hear func(llm.Delta) bool) error {
		if text != "" {
			hear(llm.Delta{Kind: llm.DeltaStart})
			hear(llm.Delta{Kind: llm.DeltaText, Text: text})
		}
		<-ctx.Done()
		return context.Cause(ctx)
	}
}

func panics(context.Context, func(llm.Delta) bool) error { panic("the model broke") }
