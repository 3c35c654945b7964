package runner_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/timeline"
)

// engine is a scripted model that carries its calls out by itself.
type engine struct {
	*scripted
	carry func(ctx context.Context, call llm.ToolCall, said func(string)) (llm.ToolResult, error)

	mu       sync.Mutex
	released []string
}

func (e *engine) Result(ctx context.Context, session string, call llm.ToolCall, said func(string)) (llm.ToolResult, error) {
	if want := e.calls()[0].Session; session != want {
		return llm.ToolResult{}, errors.New("a result of session " + session + ", not " + want)
	}
	return e.carry(ctx, call, said)
}

func (e *engine) Release(session string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.released = append(e.released, session)
}

func (e *engine) releases() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.released)
}

func lists(_ context.Context, call llm.ToolCall, said func(string)) (llm.ToolResult, error) {
	said("looking")
	return llm.ToolResult{CallID: call.ID, Name: call.Name, Text: "a.txt"}, nil
}

// TestAnEngineRunsItsOwnTools: its turn is told as rounds, its calls are not ours, and it is
// let go when the turn is over.
func TestAnEngineRunsItsOwnTools(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pi := &engine{scripted: script(
			callsTool("c1", "ls", "{}"), callsTool("c2", "ls", "{}"), callsTool("c3", "ls", "{}"), callsTool("c4", "ls", "{}"), callsTool("c5", "ls", "{}"),
			answers("One file."),
		), carry: lists}
		log := timeline.NewMemory()
		r := runner.New(runner.WithLog(log), runner.WithModel(primary, pi))
		run, err := r.Start(t.Context(), runner.Request{Prompt: "hi"})
		if err != nil {
			t.Fatal(err)
		}
		result, err := run.Wait(t.Context())
		if err != nil || result.Text != "One file." {
			t.Fatalf("%+v, %v", result, err)
		}
		events, err := log.Read(t.Context(), run.ID(), 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		if began := bodies[recovery.ToolBegan](events); len(began) != 5 || began[0].By != recovery.ByEngine {
			t.Errorf("calls: %+v", began)
		}
		if notes := bodies[recovery.Noted](events); len(notes) != 5 || notes[0].Detail != "looking" {
			t.Errorf("notes: %+v", notes)
		}
		requests := pi.calls()
		if len(requests) != 6 || requests[0].Session != run.ID() || requests[1].Session != run.ID() {
			t.Errorf("requests: %+v", requests)
		}
		if told := requests[1].Messages; len(told) != 3 || told[2].Parts[0].Result.Text != "a.txt" {
			t.Errorf("the transcript: %+v", told)
		}
		if got := pi.releases(); !slices.Equal(got, []string{run.ID()}) {
			t.Errorf("released: %q", got)
		}
	})
}

// TestAnEngineFailsLikeAnyModel: what it did stays done, and what goes on elsewhere knows of it.
func TestAnEngineFailsLikeAnyModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pi := &engine{scripted: script(callsTool("c1", "ls", "{}"), fails("One", overload)), carry: lists}
		other := script(func(ctx context.Context, hear func(llm.Delta) bool) error {
			if len(pi.releases()) != 1 {
				t.Error("the other model is asked while the engine goes on")
			}
			return answers("One file.")(ctx, hear)
		})
		r := runner.New(runner.WithModel(primary, pi), runner.WithModel(secondary, other), runner.WithAutoRecover(true),
			runner.WithHook("h", advise(recovery.Vote{Action: recovery.ActionSwitchModel, NewModel: secondary})))
		run, err := r.Start(t.Context(), runner.Request{Prompt: "hi"})
		if err != nil {
			t.Fatal(err)
		}
		if result, err := run.Wait(t.Context()); err != nil || result.Text != "One file." {
			t.Fatalf("%+v, %v", result, err)
		}
		requests := other.calls()
		if len(requests) != 1 || len(requests[0].Messages) != 3 || requests[0].Messages[2].Parts[0].Result.Text != "a.txt" {
			t.Errorf("the other model is told %+v", requests)
		}
	})
}

// TestALostResultOfAnEngineIsUnknown: nobody says that the call failed, nor is it made again,
// whatever a tool of that name is.
func TestALostResultOfAnEngineIsUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		pi := &engine{scripted: script(callsTool("c1", "ls", "{}"), answers("I do not know.")), carry: func(context.Context, llm.ToolCall, func(string)) (llm.ToolResult, error) {
			calls++
			return llm.ToolResult{}, errors.New("the process is gone")
		}}
		log := timeline.NewMemory()
		ours := runner.Tool{Name: "ls", Safety: recovery.SafetyReadOnly, Run: func(context.Context, runner.ToolCall) (string, error) {
			t.Error("the engine's call is made by the runner")
			return "", nil
		}}
		run, err := runner.New(runner.WithLog(log), runner.WithModel(primary, pi), runner.WithTools(ours)).Start(t.Context(), runner.Request{Prompt: "hi"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := run.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		events, err := log.Read(t.Context(), run.ID(), 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		if ends := bodies[recovery.ToolReturned](events); calls != 1 || len(ends) != 1 || ends[0].Outcome != recovery.OutcomeUnknown {
			t.Errorf("%d calls, %+v", calls, ends)
		}
	})
}

// TestACancelledEngineIsLetGo, in the middle of a call.
func TestACancelledEngineIsLetGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := make(chan struct{})
		pi := &engine{scripted: script(callsTool("c1", "sleep", "{}")), carry: func(ctx context.Context, _ llm.ToolCall, _ func(string)) (llm.ToolResult, error) {
			close(began)
			<-ctx.Done()
			return llm.ToolResult{}, context.Cause(ctx)
		}}
		run, err := runner.New(runner.WithModel(primary, pi)).Start(t.Context(), runner.Request{Prompt: "hi", Session: "s1"})
		if err != nil {
			t.Fatal(err)
		}
		<-began
		cancelled := time.Now()
		run.Cancel()
		if _, err := run.Wait(t.Context()); !errors.Is(err, runner.ErrCancelled) {
			t.Fatal(err)
		}
		if took := time.Since(cancelled); took > 2*time.Second {
			t.Errorf("it settled after %s", took)
		}
		if got := pi.releases(); !slices.Equal(got, []string{"s1"}) {
			t.Errorf("released: %q", got)
		}
	})
}

// bodies are those of one type among events.
func bodies[B recovery.Body](events []recovery.Event) []B {
	var list []B
	for _, e := range events {
		if b, ok := e.Body.(B); ok {
			list = append(list, b)
		}
	}
	return list
}
