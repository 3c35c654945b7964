package history

import (
	"context"
	"errors"
	"iter"
	"sync"
	"testing"

	"github.com/anishathalye/porcupine"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/timeline"
)

// once is something that happens at most once, and later requests for it are refused. It models a
// suggestion's answer and a run's start; the input says which suggestion or run.
var once = porcupine.Model{
	Partition: func(history []porcupine.Operation) (parts [][]porcupine.Operation) {
		at := map[any]int{}
		for _, op := range history {
			i, ok := at[op.Input]
			if !ok {
				i = len(parts)
				at[op.Input], parts = i, append(parts, nil)
			}
			parts[i] = append(parts[i], op)
		}
		return parts
	},
	Init: func() any { return false },
	Step: func(state, _, output any) (bool, any) {
		switch output {
		case won:
			return state == false, true
		case refused:
			return state == true, true
		}
		return false, state
	},
}

// The replies to a client that wants what happens once.
const (
	won     = "won"
	refused = "refused"
)

// down is a model that always fails.
type down struct{}

func (down) Stream(context.Context, llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		yield(llm.Delta{}, failure.NewFailure(failure.KindUnavailable, failure.OriginModel, failure.PhaseBeforeFirstEvent, nil))
	}
}

// asking is a runner that asks a person after every failure.
func asking(log timeline.Log) *runner.Runner {
	return runner.New(runner.WithModel("a/one", down{}), runner.WithLog(log), runner.WithHook("h",
		hooks.Func(func(context.Context, hooks.RunError) (recovery.Vote, error) {
			return recovery.Vote{Action: recovery.ActionRetry}, nil
		})))
}

// answer answers the run's suggestion, waits until the run has settled again, and returns how the
// answer was received.
func answer(t *testing.T, r *runner.Runner, id, suggestion string) string {
	t.Helper()
	run, err := r.Recover(t.Context(), id, runner.Answer{Suggestion: suggestion, Action: recovery.ButtonRetry})
	switch {
	case errors.Is(err, recovery.ErrAnswered), errors.Is(err, recovery.ErrExpired):
		return refused
	case err != nil:
		return err.Error()
	}
	t.Cleanup(func() { _, _ = run.Wait(context.Background()) }) // it fails again, as it should
	return won
}

// asked starts a run and returns it with its suggestion.
func asked(t *testing.T, r *runner.Runner) (id, suggestion string) {
	t.Helper()
	run, err := r.Start(t.Context(), runner.Request{Prompt: "hi"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = run.Wait(t.Context())
	failed, ok := errors.AsType[*runner.Error](err)
	if !ok || failed.Suggestion == nil {
		t.Fatalf("there is no suggestion: %v", err)
	}
	return run.ID(), failed.Suggestion.ID
}

func TestI18OneAnswer(t *testing.T) {
	const runs, callers = 10, 4 // callers of each owner
	everywhere(t, func(t *testing.T, logs []timeline.Log) {
		var runners []*runner.Runner
		for _, log := range logs {
			runners = append(runners, asking(log))
		}
		rec := newRecorder()
		for n := range runs {
			id, suggestion := asked(t, runners[n%len(runners)])
			var calling sync.WaitGroup
			for client := range callers * len(runners) {
				calling.Go(func() {
					r := runners[client%len(runners)]
					rec.record(client, suggestion, func() any { return answer(t, r, id, suggestion) })
				})
			}
			calling.Wait()
		}
		rec.want(t, once)
		wantWinners(t, rec, runs)
	})
}

// wantWinners checks that something happened at all.
func wantWinners(t *testing.T, rec *recorder, want int) {
	t.Helper()
	n := 0
	for _, op := range rec.history {
		if op.Output == won {
			n++
		}
	}
	if n != want {
		t.Errorf("%d won, not %d", n, want)
	}
}

func TestI18FindsADoubleAccept(t *testing.T) {
	everywhere(t, func(t *testing.T, logs []timeline.Log) {
		first := asking(logs[0])
		id, suggestion := asked(t, first)
		events, err := logs[1].Read(t.Context(), id, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		second := asking(staleLog{logs[1], events})
		rec := newRecorder()
		rec.record(0, suggestion, func() any { return answer(t, first, id, suggestion) })
		rec.want(t, once)
		rec.record(1, suggestion, func() any { return answer(t, second, id, suggestion) })
		rec.wantIllegal(t, once)
	})
}
