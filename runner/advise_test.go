package runner_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/health"
	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/timeline"
)

// overloaded is the evidence of a provider that is overloaded.
var overloaded = failure.Evidence{Status: 529, Body: []byte(`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`)}

// adviser is a runner that calls no model itself; its plugin retries after a second, and
// switches the second time.
func adviser(log timeline.Log, options ...runner.Option) (*runner.Runner, *atomic.Int64) {
	var asked atomic.Int64
	hook := hooks.Func(func(_ context.Context, e hooks.RunError) (recovery.Vote, error) {
		asked.Add(1)
		if e.Retries > 0 && len(e.Alternatives) > 0 {
			return recovery.Vote{Action: recovery.ActionSwitchModel, NewModel: e.Alternatives[0].Model, Reason: "it has had its chance"}, nil
		}
		return recovery.Vote{Action: recovery.ActionRetry, Delay: 1000, Reason: "it may pass"}, nil
	})
	all := append([]runner.Option{runner.WithModel("a/one", script()), runner.WithLog(log), runner.WithHook("p", hook), runner.WithAutoRecover(true)}, options...)
	return runner.New(all...), &asked
}

func question(attempt int) recovery.Question {
	return recovery.Question{Call: "c1", Attempt: attempt, Model: "openai/gpt", Evidence: overloaded, Alternatives: []string{"anthropic/claude", "openai/gpt"}}
}

func adviceOf(t *testing.T, r *runner.Runner, q recovery.Question) *recovery.Run {
	t.Helper()
	run, err := r.Advise(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// trail is the kinds of a run's events.
func trail(t *testing.T, log timeline.Log, run string) string {
	t.Helper()
	events, err := log.Read(t.Context(), run, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, e := range events {
		kinds = append(kinds, e.Type())
	}
	return strings.Join(kinds, " ")
}

// TestAdvise: a call that another program makes is a run with all its attempts, votes and
// decisions, and is asked about once for each attempt.
func TestAdvise(t *testing.T) {
	log, known := timeline.NewMemory(), health.New()
	r, asked := adviser(log, runner.WithHealth(known))
	first := adviceOf(t, r, question(0))
	d := first.Open.Decision
	if d.Action != recovery.ActionRetry || d.Delay != 1000 || d.BlockedBy != "" || d.By == nil || d.By.Plugin != "p" || first.Open.Failure.Kind != failure.KindOverloaded {
		t.Errorf("the first: %+v", d)
	}
	if again := adviceOf(t, r, question(0)); !reflect.DeepEqual(again.Open.Decision, d) || asked.Load() != 1 {
		t.Errorf("asked twice: %+v, and the plugin %d times", again.Open.Decision, asked.Load())
	}
	second := adviceOf(t, r, question(1))
	if d := second.Open.Decision; second.ID != first.ID || d.Action != recovery.ActionSwitchModel || d.NewModel != "anthropic/claude" {
		t.Errorf("the second: %+v", d)
	}
	if again := adviceOf(t, r, question(0)); !reflect.DeepEqual(again.Open.Decision, d) {
		t.Errorf("the first once more: %+v", again.Open.Decision)
	}
	if _, cooling := known.Cooling("openai/gpt", time.Now()); !cooling {
		t.Error("what callers say of a model is not known to others")
	}
	over, err := r.Settle(t.Context(), recovery.Report{Call: "c1"})
	if err != nil || over.Status != recovery.StatusCompleted || over.Model != "anthropic/claude" {
		t.Fatalf("%+v, %v", over, err)
	}
	want := "started claimed began failed voted decided waiting claimed began failed voted decided waiting claimed began answered ended"
	if got := trail(t, log, first.ID); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if _, err := r.Settle(t.Context(), recovery.Report{Call: "c1", Model: "openai/gpt"}); err != nil {
		t.Error("settled twice:", err)
	}
	if _, cooling := known.Cooling("openai/gpt", time.Now()); cooling {
		t.Error("it cools down although it has answered")
	}
	if third := adviceOf(t, r, question(2)); third.ID == first.ID || third.Call.Attempts != 3 {
		t.Errorf("after its end: %s, %+v", third.ID, third.Call)
	}
	if _, err := r.Settle(t.Context(), recovery.Report{Call: "of nobody"}); !errors.Is(err, timeline.ErrNotFound) {
		t.Error("of nobody:", err)
	}
}

// TestAdviceIsAFunctionOfWhatIsAsked (I56): a process that was asked from the beginning and one
// that hears of the earlier attempts only now say the same.
func TestAdviceIsAFunctionOfWhatIsAsked(t *testing.T) {
	for _, auto := range []bool{true, false} {
		there, _ := adviser(timeline.NewMemory(), runner.WithAutoRecover(auto))
		q := question(0)
		q.Evidence = failure.Evidence{Status: 500} // after which no model cools down: that would be one more fact
		for n := range recovery.MaxAttemptsInAll - 1 {
			q.Attempt = n
			elsewhere, _ := adviser(timeline.NewMemory(), runner.WithAutoRecover(auto))
			want, got := adviceOf(t, there, q), adviceOf(t, elsewhere, q)
			if d, e := decision(t, want), decision(t, got); d != e {
				t.Errorf("auto %v, attempt %d:\n%s\n%s", auto, n, d, e)
			}
			o := want.Open
			q.Tried = append(q.Tried, recovery.TriedCall{Model: o.Failure.Model, Failure: o.Failure, At: o.At, Duration: o.Failure.Elapsed})
			if o.Decision.Action == recovery.ActionSwitchModel && o.Decision.BlockedBy == "" {
				q.Model = o.Decision.NewModel
			}
		}
	}
}

// decision is the part of the advice that a caller acts on, without its times.
func decision(t *testing.T, run *recovery.Run) string {
	t.Helper()
	d := *run.Open.Decision
	if d.By != nil {
		by := *d.By
		by.Millis, d.By = 0, &by
	}
	if d.LastRound {
		d.Delay = 0
	}
	text, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestAdviceIsLimited: a plugin that would retry for ever is stopped by the limits.
func TestAdviceIsLimited(t *testing.T) {
	hostile := hooks.Func(func(context.Context, hooks.RunError) (recovery.Vote, error) {
		return recovery.Vote{Action: recovery.ActionRetry}, nil
	})
	r := runner.New(runner.WithModel("a/one", script()), runner.WithHook("p", hostile), runner.WithAutoRecover(true))
	acted := 0
	for n := range 30 {
		q := question(n)
		q.Evidence = failure.Evidence{Status: 401}
		if run := adviceOf(t, r, q); run.Open.Decision.BlockedBy == "" {
			acted++
		} else if run.Suggestion == nil || len(run.Suggestion.Actions) == 0 {
			t.Fatalf("attempt %d: %+v without a suggestion", n, run.Open.Decision)
		}
	}
	if acted > recovery.MaxAttemptsInAll-1 {
		t.Errorf("it went on %d times", acted)
	}
}

// TestAdviceIsOffered: without autoRecover the caller asks a person. Nobody else may decide what
// becomes of the call, except that it ends.
func TestAdviceIsOffered(t *testing.T) {
	log := timeline.NewMemory()
	r, _ := adviser(log)
	q, off := question(0), false
	q.AutoRecover = &off
	run := adviceOf(t, r, q)
	s := run.Suggestion
	if s == nil || s.SuggestedAction != recovery.ActionRetry || !run.SuggestionOpen() {
		t.Fatalf("%+v", s)
	}
	for _, b := range s.Actions {
		if want := map[bool]string{true: recovery.EffectRunner, false: recovery.EffectClient}[b.Kind == recovery.ButtonStop]; b.Effect != want {
			t.Errorf("%s is for the %s", b.Kind, b.Effect)
		}
	}
	if _, err := r.Recover(t.Context(), run.ID, runner.Answer{Action: recovery.ButtonRetry}); !errors.Is(err, recovery.ErrNoSuchAction) {
		t.Error("somebody else retries:", err)
	}
	q.Attempt = 1
	next := adviceOf(t, r, q)
	if next.ID != run.ID || next.Suggestion.ID == s.ID {
		t.Errorf("the caller has gone on: %+v", next.Suggestion)
	}
	stopped, err := r.Recover(t.Context(), run.ID, runner.Answer{Action: recovery.ButtonStop})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = stopped.Wait(t.Context()); !errors.Is(err, runner.ErrCancelled) {
		t.Error("stopped:", err)
	}
}

// TestAdviceAfterText: what was shown cannot be withdrawn, so nothing follows it.
func TestAdviceAfterText(t *testing.T) {
	var seen hooks.RunError
	hook := hooks.Func(func(_ context.Context, e hooks.RunError) (recovery.Vote, error) {
		seen = e
		return recovery.Vote{Action: recovery.ActionRetry}, nil
	})
	r := runner.New(runner.WithModel("a/one", script()), runner.WithHook("p", hook), runner.WithAutoRecover(true))
	q := question(0)
	q.Shown, q.Told = true, recovery.Told{ToolsRan: true, UnsafeTools: []string{"pay"}, TimedOut: true}
	q.SessionKey, q.AgentID, q.Budget = "agent:main", "main", recovery.Budget{Tokens: 100}
	run := adviceOf(t, r, q)
	if d := run.Open.Decision; d.BlockedBy != "shown" || run.Suggestion != nil || run.End == nil {
		t.Errorf("%+v, %+v", d, run.Suggestion)
	}
	if !seen.PartialShown || !seen.TimedOut || seen.Aborted || seen.ReplaySafety != hooks.ReplayUnsafe || !reflect.DeepEqual(seen.UnsafeTools, []string{"pay"}) ||
		seen.SessionKey != "agent:main" || seen.AgentID != "main" || seen.Remaining.Tokens != 100 {
		t.Errorf("the plugin is told %+v", seen)
	}
}

// TestACallerGivesUp: the last failure is kept, and nobody is asked about it.
func TestACallerGivesUp(t *testing.T) {
	log := timeline.NewMemory()
	r, asked := adviser(log)
	run := adviceOf(t, r, question(0))
	over, err := r.Settle(t.Context(), recovery.Report{Call: "c1", Evidence: &failure.Evidence{Status: 401}})
	if err != nil || over.Status != recovery.StatusFailed || over.Open.Failure.Kind != failure.KindAuth || asked.Load() != 1 {
		t.Errorf("%+v, %v; asked %d times", over, err, asked.Load())
	}
	if got := trail(t, log, run.ID); !strings.HasSuffix(got, "waiting claimed began failed ended") {
		t.Error(got)
	}
}

// TestACallerIsLost: its run ends an hour later, where somebody keeps the log's runs.
func TestACallerIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := timeline.NewMemory()
		r, _ := adviser(log)
		run := adviceOf(t, r, question(0))
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		kept := make(chan error, 1)
		go func() { kept <- r.Keep(ctx, nil) }()
		time.Sleep(50 * time.Minute)
		if got := trail(t, log, run.ID); !strings.HasSuffix(got, "waiting") {
			t.Error("after 50 min:", got)
		}
		time.Sleep(15 * time.Minute)
		if got := trail(t, log, run.ID); !strings.HasSuffix(got, "due ended") {
			t.Error("after 65 min:", got)
		}
		cancel()
		<-kept
	})
}

// TestAskedAtOnce: many who ask the same at once get the same, and the plugin is asked once.
func TestAskedAtOnce(t *testing.T) {
	r, asked := adviser(timeline.NewMemory())
	var all sync.WaitGroup
	said := make([]string, 16)
	for i := range said {
		all.Go(func() {
			run, err := r.Advise(t.Context(), question(0))
			if err != nil {
				said[i] = err.Error()
				return
			}
			said[i] = fmt.Sprint(run.ID, run.Seq, run.Open.Decision.Delay)
		})
	}
	all.Wait()
	for _, s := range said {
		if s != said[0] {
			t.Errorf("%s, and %s", s, said[0])
		}
	}
	if asked.Load() != 1 {
		t.Errorf("the plugin was asked %d times", asked.Load())
	}
}

// TestAskedByTwoProcesses: a call goes on in the one that is asked next.
func TestAskedByTwoProcesses(t *testing.T) {
	log := timeline.NewMemory()
	one, _ := adviser(log)
	two, _ := adviser(log)
	var first *recovery.Run
	for n := range 4 {
		r := one
		if n%2 == 1 {
			r = two
		}
		run := adviceOf(t, r, question(n))
		if first == nil {
			first = run
		}
		if run.ID != first.ID || run.Call.Attempts != n+1 {
			t.Errorf("attempt %d: %s, %+v", n, run.ID, run.Call)
		}
	}
}

// TestWhoHangsUpIsNotAdvised: nothing is stored of a question whose asker no longer waits.
func TestWhoHangsUpIsNotAdvised(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	hook := hooks.Func(func(ctx context.Context, _ hooks.RunError) (recovery.Vote, error) {
		cancel()
		<-ctx.Done()
		return recovery.Vote{}, ctx.Err()
	})
	log := timeline.NewMemory()
	r := runner.New(runner.WithModel("a/one", script()), runner.WithLog(log), runner.WithHook("p", hook), runner.WithAutoRecover(true))
	if _, err := r.Advise(ctx, question(0)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if list, err := log.List(t.Context(), timeline.Query{}); err != nil || len(list) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
}

// TestHooksOnTrialAdviseToo: what they would have said is recorded and changes nothing.
func TestHooksOnTrialAdviseToo(t *testing.T) {
	log := timeline.NewMemory()
	trial := hooks.Func(func(context.Context, hooks.RunError) (recovery.Vote, error) {
		return recovery.Vote{Action: recovery.ActionFail}, nil
	})
	r, _ := adviser(log, runner.WithHooks(func() []hooks.Named {
		return []hooks.Named{{Name: "trial", Hook: trial, Shadow: true}}
	}))
	run := adviceOf(t, r, question(0))
	if len(run.Open.Votes) != 1 || run.Open.Decision.Action != recovery.ActionRetry {
		t.Errorf("%+v", run.Open.Votes)
	}
	if err := r.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := trail(t, log, run.ID); !strings.HasSuffix(got, "waiting voted") {
		t.Error(got)
	}
}
