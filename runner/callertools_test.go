package runner_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/timeline"
)

var theirs = recovery.ToolDecl{
	Tool: llm.Tool{Name: "get_weather", Description: "The weather", Schema: json.RawMessage(`{"type":"object","required":["city"],"properties":{"city":{"type":"string"}}}`)},
}

const oslo = `{"city":"Oslo"}`

// awaited waits until the run waits for its caller.
func awaited(t *testing.T, r *runner.Runner, id string) []recovery.AwaitedCall {
	t.Helper()
	for range 1000 {
		state, err := r.Inspect(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if state.Wait != nil && state.Wait.For == recovery.WaitTool {
			return state.Awaited()
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("the run does not wait for its caller")
	return nil
}

func count[T recovery.Body](t *testing.T, log timeline.Log, id string) (n int) {
	t.Helper()
	events, err := log.Read(t.Context(), id, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if _, is := e.Body.(T); is {
			n++
		}
	}
	return n
}

// TestCallersTool: the model is told of it, its call is asked once, and its result is acted on
// once, however often it is given; another one is refused.
func TestCallersTool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := timeline.NewMemory()
		model := script(callsTool("c1", "get_weather", oslo), answers("Sunny."))
		r := runner.New(runner.WithModel(primary, model), runner.WithLog(log))
		run, err := r.Start(t.Context(), runner.Request{Prompt: "hi", CallerTools: []recovery.ToolDecl{theirs}})
		if err != nil {
			t.Fatal(err)
		}
		calls := awaited(t, r, run.ID())
		if len(calls) != 1 || calls[0].ID != "c1" || string(calls[0].Args) != oslo || calls[0].Until.Sub(calls[0].Since) != 10*time.Minute {
			t.Errorf("it waits for %+v", calls)
		}
		if tools := model.calls()[0].Tools; len(tools) != 1 || tools[0].Name != "get_weather" {
			t.Errorf("the model is told of %+v", tools)
		}
		if err := r.ReturnResults(t.Context(), run.ID(), runner.CallResult{CallID: "c2"}); !errors.Is(err, recovery.ErrNoSuchCall) || !strings.Contains(err.Error(), "c1 (get_weather)") {
			t.Errorf("a call that is not asked: %v", err)
		}
		if err := r.ReturnResults(t.Context(), run.ID(), runner.CallResult{CallID: "c1", Text: strings.Repeat("x", runner.MaxToolResult+1)}); err == nil {
			t.Error("a result that is too large is taken")
		}
		var both sync.WaitGroup
		for range 2 {
			both.Go(func() {
				if err := r.ReturnResults(context.Background(), run.ID(), runner.CallResult{CallID: "c1", Text: "22 degrees"}); err != nil {
					t.Error(err)
				}
			})
		}
		both.Wait()
		if result, err := run.Wait(t.Context()); err != nil || result.Text != "Sunny." {
			t.Errorf("got %+v, %v", result, err)
		}
		if err := r.ReturnResults(t.Context(), run.ID(), runner.CallResult{CallID: "c1", Text: "22 degrees"}); err != nil {
			t.Errorf("the same result again: %v", err)
		}
		if err := r.ReturnResults(t.Context(), run.ID(), runner.CallResult{CallID: "c1", Text: "23 degrees"}); !errors.Is(err, recovery.ErrOtherResult) {
			t.Errorf("another result: %v", err)
		}
		if err := r.ReturnResults(t.Context(), run.ID(), runner.CallResult{CallID: "c9", Text: "22 degrees"}); !errors.Is(err, recovery.ErrCallOver) {
			t.Errorf("a result for a run that is over: %v", err)
		}
		if asked, given := count[recovery.ToolBegan](t, log, run.ID()), count[recovery.ToolReturned](t, log, run.ID()); asked != 1 || given != 1 {
			t.Errorf("asked %d times, %d results", asked, given)
		}
	})
}

// TestCallersToolParked: a run whose caller takes long is driven by nobody; the result makes it
// continue, whichever process receives it.
func TestCallersToolParked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := timeline.NewMemory()
		model := script(callsTool("c1", "get_weather", oslo), answers("Sunny."))
		first := runner.New(runner.WithModel(primary, model), runner.WithLog(renamed{log, "first"}), runner.WithHook("h", advise(recovery.Vote{})))
		second := runner.New(runner.WithModel(primary, model), runner.WithLog(renamed{log, "second"}), runner.WithDetached(t.Context()))
		run, err := first.Start(t.Context(), runner.Request{Prompt: "hi", CallerTools: []recovery.ToolDecl{theirs}})
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if result, err := run.Wait(t.Context()); !errors.Is(err, runner.ErrParked) || result.Status != recovery.StatusWaiting {
			t.Fatalf("got %+v, %v", result, err)
		}
		if kept := time.Since(began); kept < 20*time.Second || kept > time.Minute {
			t.Errorf("a process kept it for %s", kept)
		}
		time.Sleep(5 * time.Minute)
		if err := second.ReturnResults(t.Context(), run.ID(), runner.CallResult{CallID: "c1", Text: "22 degrees"}); err != nil {
			t.Fatal(err)
		}
		resumed, err := second.Resume(t.Context(), run.ID())
		if err != nil {
			t.Fatal(err)
		}
		if result, err := resumed.Wait(t.Context()); err != nil || result.Text != "Sunny." {
			t.Errorf("got %+v, %v", result, err)
		}
		if asked := count[recovery.ToolBegan](t, log, run.ID()); asked != 1 {
			t.Errorf("asked %d times", asked)
		}
	})
}

// TestCallersToolGivenUp: the time of a parked call is over, and whoever keeps the log goes on.
func TestCallersToolGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := timeline.NewMemory()
		model := script(callsTool("c1", "get_weather", oslo), answers("I do not know."))
		r := runner.New(runner.WithModel(primary, model), runner.WithLog(log))
		kept, stop := context.WithCancel(t.Context())
		defer synctest.Wait()
		defer stop()
		go func() { _ = r.Keep(kept, nil) }()
		decl := theirs
		decl.Timeout = failure.InMillis(2 * time.Hour)
		run, err := r.Start(t.Context(), runner.Request{Prompt: "hi", CallerTools: []recovery.ToolDecl{decl}})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(2*time.Hour + time.Minute)
		state, err := r.Inspect(t.Context(), run.ID())
		if err != nil || state.Status != recovery.StatusCompleted {
			t.Fatalf("got %+v, %v", state.Status, err)
		}
		told := model.calls()[1].Messages
		if last := told[len(told)-1].Parts[0].Result; last == nil || !last.IsError || !strings.Contains(last.Text, "gave no result within 2 h") {
			t.Errorf("the model is told %+v", last)
		}
		if err := r.ReturnResults(t.Context(), run.ID(), runner.CallResult{CallID: "c1", Text: "22"}); !errors.Is(err, recovery.ErrCallOver) {
			t.Errorf("a late result: %v", err)
		}
	})
}

// TestCallersToolMisfit: a call whose arguments do not fit is never asked of the caller.
func TestCallersToolMisfit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := timeline.NewMemory()
		r := runner.New(runner.WithModel(primary, script(callsTool("c1", "get_weather", `{}`), answers("Pardon."))), runner.WithLog(log))
		run, err := r.Start(t.Context(), runner.Request{Prompt: "hi", CallerTools: []recovery.ToolDecl{theirs}})
		if err != nil {
			t.Fatal(err)
		}
		if result, err := run.Wait(t.Context()); err != nil || result.Text != "Pardon." {
			t.Errorf("got %+v, %v", result, err)
		}
		if asked := count[recovery.ToolBegan](t, log, run.ID()); asked != 0 {
			t.Errorf("asked %d times", asked)
		}
	})
}

// TestCallersToolCancel: while a run waits for its caller it can be ended.
func TestCallersToolCancel(t *testing.T) {
	for _, parked := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			r := runner.New(runner.WithModel(primary, script(callsTool("c1", "get_weather", oslo))))
			run, err := r.Start(t.Context(), runner.Request{Prompt: "hi", CallerTools: []recovery.ToolDecl{theirs}})
			if err != nil {
				t.Fatal(err)
			}
			awaited(t, r, run.ID())
			if parked {
				_, _ = run.Wait(t.Context())
			}
			if err := r.Cancel(t.Context(), run.ID()); err != nil {
				t.Fatal(err)
			}
			state, err := r.Inspect(t.Context(), run.ID())
			if err != nil || state.Status != recovery.StatusCancelled || len(state.Awaited()) > 0 {
				t.Errorf("got %+v, %v", state.Status, err)
			}
			if err := r.ReturnResults(t.Context(), run.ID(), runner.CallResult{CallID: "c1", Text: "22"}); !errors.Is(err, recovery.ErrCallOver) {
				t.Errorf("a result for a run that was ended: %v", err)
			}
		})
	}
}

// TestCallersToolRefused: what no run may have is refused, by its place and field.
func TestCallersToolRefused(t *testing.T) {
	named := func(change func(*recovery.ToolDecl)) recovery.ToolDecl {
		d := theirs
		change(&d)
		return d
	}
	own := runner.Tool{Name: "look", Run: func(context.Context, runner.ToolCall) (string, error) { return "", nil }}
	r := runner.New(runner.WithModel(primary, script(answers("ok"))), runner.WithTools(own))
	for field, tools := range map[string][]recovery.ToolDecl{
		"0.name":      {named(func(d *recovery.ToolDecl) { d.Name = "look" })},
		"1.name":      {theirs, theirs},
		"0.safety":    {named(func(d *recovery.ToolDecl) { d.Safety = "perhaps" })},
		"0.schema":    {named(func(d *recovery.ToolDecl) { d.Schema = json.RawMessage(`{"type":"thing"}`) })},
		"0.timeoutMs": {named(func(d *recovery.ToolDecl) { d.Timeout = failure.InMillis(25 * time.Hour) })},
	} {
		_, err := r.Start(t.Context(), runner.Request{Prompt: "hi", CallerTools: tools})
		wrong, ok := errors.AsType[*runner.ToolError](err)
		if !ok || string(rune('0'+wrong.Index))+"."+wrong.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}
