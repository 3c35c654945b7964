package runner_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
)

// interruptible is a scripted llm.Interruptible.
type interruptible struct{ *scripted }

func (interruptible) Interruptible() {}

// waitsInDo answers with whether Do waits for it on the same goroutine.
func waitsInDo(ctx context.Context, hear func(llm.Delta) bool) error {
	var stack [64]uintptr
	frames := runtime.CallersFrames(stack[:runtime.Callers(0, stack[:])])
	within := false
	for frame, more := frames.Next(); more; frame, more = frames.Next() {
		within = within || strings.HasSuffix(frame.Function, "(*Runner).Do")
	}
	return answers(fmt.Sprint(within))(ctx, hear)
}

// TestDoMakesTheFirstCallItself, if the model ends when it is told to and the run does, too.
func TestDoMakesTheFirstCallItself(t *testing.T) {
	for name, c := range map[string]struct {
		model    llm.Model
		detached bool
		want     string
	}{
		"interruptible":               {interruptible{script(waitsInDo)}, false, "true"},
		"any other model":             {script(waitsInDo), false, "false"},
		"the run may go on after Do":  {interruptible{script(waitsInDo)}, true, "false"},
		"the second call of the same": {interruptible{script(fails("", failure.NewFailure(failure.KindOverloaded, failure.OriginModel, failure.PhaseBeforeFirstEvent, nil)), waitsInDo)}, false, "false"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				options := []runner.Option{runner.WithModel(primary, c.model), runner.WithAutoRecover(true), runner.WithHook("h", advise(retryNow))}
				if c.detached {
					options = append(options, runner.WithDetached(t.Context()))
				}
				result, err := runner.New(options...).Do(t.Context(), runner.Request{Prompt: "hi"})
				if err != nil || result.Text != c.want || result.Run == "" || result.State.End == nil {
					t.Errorf("%+v, %v", result, err)
				}
			})
		})
	}
}

// TestDoOfAnUnknownModel begins nothing.
func TestDoOfAnUnknownModel(t *testing.T) {
	r := runner.New(runner.WithModel(primary, script(answers("ok"))))
	if result, err := r.Do(t.Context(), runner.Request{Prompt: "hi", Model: "lab/none"}); err == nil || result != (runner.Result{}) {
		t.Errorf("%+v, %v", result, err)
	}
}

// TestDoIsInterrupted while its goroutine is in a call: by its context, by whoever cancels the run,
// and by a timer.
func TestDoIsInterrupted(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(r *runner.Runner, id string, cancel func())
		want func(error) bool
	}{
		"context": {func(_ *runner.Runner, _ string, cancel func()) { cancel() }, func(err error) bool { return errors.Is(err, runner.ErrCancelled) }},
		"cancel": {func(r *runner.Runner, id string, _ func()) { _ = r.Cancel(context.Background(), id) }, func(err error) bool {
			return errors.Is(err, runner.ErrCancelled)
		}},
		"timer": {func(*runner.Runner, string, func()) {}, func(err error) bool {
			f, ok := failure.AsFailure(err)
			return ok && f.Kind == failure.KindTimeout
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				r := runner.New(runner.WithModel(primary, interruptible{script(stalls("so far"))}))
				heard := make(chan string, 1)
				call := &runner.Call{Caller: deafCaller{}, Request: llm.Request{Messages: []llm.Message{llm.User("hi")}}, Begun: func(run string) { heard <- run }}
				go func() {
					id := <-heard
					time.Sleep(time.Second)
					c.end(r, id, cancel)
				}()
				result, err := r.Do(ctx, runner.Request{Call: call})
				if !c.want(err) || result.State == nil {
					t.Errorf("%+v, %v", result, err)
				}
			})
		})
	}
}

// deafCaller is a Caller to which nothing is new.
type deafCaller struct{}

func (deafCaller) Began(uint64, string)                           {}
func (deafCaller) Heard(context.Context, uint64, llm.Delta) error { return nil }
func (deafCaller) Failed(uint64, error)                           {}
func (deafCaller) Shown(uint64) recovery.Shown                    { return recovery.ShownNothing }

// TestDoWithADeafModel returns all the same: a model that says nothing of its context is called on
// another goroutine.
func TestDoWithADeafModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		deaf := llm.ModelFunc(func(context.Context, llm.Request) iter.Seq2[llm.Delta, error] {
			return func(func(llm.Delta, error) bool) { time.Sleep(time.Minute) }
		})
		began := time.Now()
		_, err := runner.New(runner.WithModel(primary, deaf)).Do(ctx, runner.Request{Prompt: "hi"})
		if !errors.Is(err, runner.ErrCancelled) || time.Since(began) > 5*time.Second {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
		time.Sleep(time.Minute) // it ends within the test
	})
}

// TestDoDoesNotWaitForADeafTool of a run that has ended.
func TestDoDoesNotWaitForADeafTool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tool := runner.Tool{Name: "deaf", Run: func(context.Context, runner.ToolCall) (string, error) {
			time.Sleep(9 * time.Second)
			return "done", nil
		}}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		r := runner.New(runner.WithModel(primary, interruptible{script(callsTool("c1", "deaf", `{}`))}), runner.WithTools(tool))
		began := time.Now()
		_, err := r.Do(ctx, runner.Request{Prompt: "hi"})
		if !errors.Is(err, runner.ErrCancelled) || time.Since(began) > 4*time.Second {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
		if err := r.Drain(t.Context()); err != nil || time.Since(began) < 9*time.Second {
			t.Errorf("drained after %s: %v", time.Since(began), err)
		}
	})
}
