package runner_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/timeline"
)

// TestARunOutlivesWhoeverBeganIt: the end of the context that began a detached run changes
// nothing; that of the runner's cancels it or lets go of it, as its cause says.
func TestARunOutlivesWhoeverBeganIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service, stop := context.WithCancelCause(t.Context())
		defer stop(nil)
		model := script(after1h)
		r := runner.New(runner.WithModel(primary, model), runner.WithDetached(service),
			runner.WithPolicy(func(p *recovery.Policy) { p.Timeouts = recovery.Timeouts{} }))
		request, done := context.WithTimeout(t.Context(), time.Minute)
		run, err := r.Start(request, runner.Request{Prompt: "hi"})
		if err != nil {
			t.Fatal(err)
		}
		result, err := run.Wait(request)
		if !errors.Is(err, context.DeadlineExceeded) || result.Run != run.ID() || result.State != nil {
			t.Errorf("whoever waits no longer hears %+v, %v", result, err)
		}
		done()
		if result, err := run.Wait(t.Context()); err != nil || result.Text != "late" || !result.State.WaitsUntil.IsZero() {
			t.Errorf("the run came to %+v, %v", result, err)
		}
		for cause, want := range map[error]error{runner.ErrLetGo: runner.ErrLetGo, errors.New("over"): runner.ErrCancelled} {
			service, stop := context.WithCancelCause(t.Context())
			r := runner.New(runner.WithModel(primary, script(stalls("so far"))), runner.WithDetached(service))
			request, done := context.WithCancel(t.Context())
			run, err := r.Start(request, runner.Request{Prompt: "hi"})
			if err != nil {
				t.Fatal(err)
			}
			done()
			synctest.Wait()
			stop(cause)
			if _, err := run.Wait(t.Context()); !errors.Is(err, want) {
				t.Errorf("after %v: %v, not %v", cause, err, want)
			}
		}
	})
}

// after1h is an answer that takes an hour.
func after1h(ctx context.Context, hear func(llm.Delta) bool) error {
	select {
	case <-time.After(time.Hour):
		return answers("late")(ctx, hear)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// TestWhoKeepsARunLetsGoOfIt, also where runs are detached.
func TestWhoKeepsARunLetsGoOfIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := timeline.NewMemory()
		first := runner.New(runner.WithLog(log), runner.WithModel(primary, script(stalls("so"))), runner.WithAutoRecover(true), runner.WithHook("h", advise(retryNow)))
		going, letGo := context.WithCancelCause(t.Context())
		run, err := first.Start(going, runner.Request{Prompt: "hi"})
		if err != nil {
			t.Fatal(err)
		}
		letGo(runner.ErrLetGo)
		_, _ = run.Wait(t.Context())
		second := runner.New(runner.WithLog(log), runner.WithModel(primary, script(stalls("so"))), runner.WithDetached(t.Context()),
			runner.WithAutoRecover(true), runner.WithHook("h", advise(retryNow)))
		keeping, stop := context.WithCancel(t.Context())
		kept, settled := make(chan *runner.Run, 1), make(chan error, 1)
		go func() { settled <- second.Keep(keeping, func(run *runner.Run) { kept <- run }) }()
		run = <-kept
		time.Sleep(time.Second) // the model is asked again
		stop()
		if _, err := run.Wait(t.Context()); !errors.Is(err, runner.ErrLetGo) {
			t.Errorf("its keeper ends: %v", err)
		}
		if err := <-settled; err != nil {
			t.Error(err)
		}
	})
}

// TestFollowByID: a run is followed by its id alone, until it has ended.
func TestFollowByID(t *testing.T) {
	r := runner.New(runner.WithModel(primary, script(answers("ok"))))
	run, err := r.Start(t.Context(), runner.Request{Prompt: "hi"})
	if err != nil {
		t.Fatal(err)
	}
	var last runner.Item
	for item, err := range r.Follow(t.Context(), run.ID(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if item.Event != nil {
			last = item
		}
	}
	if last.Event.Type() != "ended" {
		t.Errorf("the last item is %+v", last)
	}
}

// TestARequestsOwnTools: they are that run's alone, one takes the place of the Runner's, and
// each knows by whom it is called.
func TestARequestsOwnTools(t *testing.T) {
	var heard []runner.ToolCall
	tool := func(name, says string) runner.Tool {
		return runner.Tool{Name: name, Safety: recovery.SafetyReadOnly, Run: func(_ context.Context, call runner.ToolCall) (string, error) {
			heard = append(heard, call)
			return says, nil
		}}
	}
	model := script(callsTool("c1", "look", "{}"), callsTool("c2", "own", "{}"), answers("ok"), answers("ok"))
	r := runner.New(runner.WithModel(primary, model), runner.WithTools(tool("look", "the runner's"), tool("other", "")))
	labels := recovery.Labels{"tenant": "acme"}
	run, err := r.Start(t.Context(), runner.Request{
		Prompt: "hi", Session: "s1", Labels: labels, Tools: []runner.Tool{tool("own", "mine"), tool("look", "the request's")},
	})
	if err != nil {
		t.Fatal(err)
	}
	result, err := run.Wait(t.Context())
	if err != nil || len(heard) != 2 {
		t.Fatal(heard, err)
	}
	for _, call := range heard {
		if call.Run != run.ID() || call.Session != "s1" || call.Labels["tenant"] != "acme" {
			t.Errorf("the tool heard %+v", call)
		}
		call.Labels["tenant"] = "changed"
	}
	if result.State.Labels["tenant"] != "acme" {
		t.Error("a tool changed the run's labels")
	}
	if last := result.State.Messages[2].Parts[0].Result; last.Text != "the request's" {
		t.Errorf("the model was told %+v", last)
	}
	if _, err := r.Run(t.Context(), "again"); err != nil {
		t.Fatal(err)
	}
	calls, names := model.calls(), []string{}
	for _, offered := range calls[len(calls)-1].Tools {
		names = append(names, offered.Name)
	}
	if !slices.Equal(names, []string{"look", "other"}) {
		t.Errorf("the next run has %v", names)
	}
}

// TestARequestsOwnPlugins asks some of the hooks, or none; one that there is not is refused.
func TestARequestsOwnPlugins(t *testing.T) {
	for name, c := range map[string]struct {
		plugins []string
		asked   []string
		problem string
	}{
		"all":       {nil, []string{"a", "b"}, ""},
		"one":       {[]string{"b"}, []string{"b"}, ""},
		"the order": {[]string{"b", "a"}, []string{"a", "b"}, ""},
		"none":      {[]string{}, nil, ""},
		"unknown":   {[]string{"a", "c"}, nil, `there is no plugin called "c"; there are: a, b`},
	} {
		t.Run(name, func(t *testing.T) {
			r := runner.New(runner.WithModel(primary, script(fails("", overload))),
				runner.WithHook("a", advise(recovery.Vote{})), runner.WithHook("b", advise(recovery.Vote{})))
			run, err := r.Start(t.Context(), runner.Request{Prompt: "hi", Plugins: c.plugins})
			if c.problem != "" {
				if err == nil || !strings.Contains(err.Error(), c.problem) {
					t.Fatalf("got %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			result, _ := run.Wait(t.Context())
			var asked []string
			for _, v := range result.State.Open.Votes {
				asked = append(asked, v.Plugin)
			}
			slices.Sort(asked)
			if !slices.Equal(asked, c.asked) || !slices.Equal(result.State.Policy.Plugins, c.asked) {
				t.Errorf("asked were %v of %v", asked, result.State.Policy.Plugins)
			}
		})
	}
}

// TestBadLabelsAreRefused before anything is written.
func TestBadLabelsAreRefused(t *testing.T) {
	r := runner.New(runner.WithModel(primary, script(answers("ok"))))
	_, err := r.Start(t.Context(), runner.Request{Prompt: "hi", Labels: recovery.Labels{"Tenant": "acme"}})
	if err == nil || !strings.Contains(err.Error(), `"Tenant" is not a label`) {
		t.Errorf("got %v", err)
	}
}
