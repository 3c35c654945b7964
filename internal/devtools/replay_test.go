package devtools

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mulligan-run/mulligan/config"
	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/internal/exit"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/timeline"
)

// failing is a model that fails so many times before it answers.
type failing int

func (f *failing) Stream(context.Context, llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		*f--
		if !yield(llm.Delta{Kind: llm.DeltaStart}, nil) || !yield(llm.Delta{Kind: llm.DeltaText, Text: "so"}, nil) {
			return
		}
		if *f >= 0 {
			yield(llm.Delta{}, failure.NewFailure(failure.KindOverloaded, failure.OriginModel, failure.PhaseMidStream, nil))
			return
		}
		yield(llm.Delta{Kind: llm.DeltaStop, Stop: llm.StopEnd}, nil)
	}
}

// onRecord is e without what only the asking process knew and no event says.
func onRecord(e hooks.RunError) hooks.RunError {
	e.RecentCalls = nil
	e.About.CoolsUntil, e.About.CoolingKind, e.About.Health = time.Time{}, "", ""
	for i := range e.Alternatives {
		e.Alternatives[i].Health = ""
	}
	return e
}

// TestOccasionsAreWhatTheRunnerAsks records what a runner asks its hooks, and finds the same in the
// run's timeline, except for facts from outside the run. The same votes then make the same
// decisions.
func TestOccasionsAreWhatTheRunnerAsks(t *testing.T) {
	for _, auto := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			var asked []hooks.RunError
			votes := []recovery.Vote{
				{Action: recovery.ActionRetry, Delay: 3000},
				{Action: recovery.ActionSwitchModel, NewModel: "b/two", Adjust: recovery.Adjust{Compact: true}},
				{Action: recovery.ActionRetry},
				{},
			}
			hook := hooks.Func(func(_ context.Context, e hooks.RunError) (recovery.Vote, error) {
				asked = append(asked, e)
				return votes[(len(asked)-1)%len(votes)], nil
			})
			five, log := failing(5), timeline.NewMemory()
			run, err := runner.New(runner.WithLog(log), runner.WithModel("a/one", &five), runner.WithModel("b/two", &five),
				runner.WithAutoRecover(auto), runner.WithHook("h", hook)).Start(t.Context(), runner.Request{Prompt: "hi"})
			if err != nil {
				t.Fatal(err)
			}
			_, _ = run.Wait(t.Context())
			events, err := log.Read(t.Context(), run.ID(), 0, 0)
			if err != nil {
				t.Fatal(err)
			}
			list, err := occasions(events)
			if err != nil || len(list) != len(asked) || len(list) == 0 {
				t.Fatalf("%d occasions, %d questions, %v", len(list), len(asked), err)
			}
			for i, o := range list {
				if diff := cmp.Diff(onRecord(asked[i]), hooks.NewRunError(o.run), cmp.AllowUnexported(failure.Failure{})); diff != "" {
					t.Errorf("question %d: %s", i, diff)
				}
				if got := o.judge(o.votes[0], o.decide(o.votes[0])); got != verdictSame {
					t.Errorf("decision %d is %s: %+v", i, got, o.decide(o.votes[0]))
				}
			}
		})
	}
}

func TestJudge(t *testing.T) {
	retry := recovery.Decision{Action: recovery.ActionRetry, Delay: 5, By: &recovery.Voter{Plugin: "a"}}
	with := func(change func(*recovery.Decision)) recovery.Decision {
		d := retry
		change(&d)
		return d
	}
	for name, tt := range map[string]struct {
		now  recovery.Decision
		vote recovery.Vote
		want verdict
	}{
		"same":      {with(func(d *recovery.Decision) { d.Reason, d.By = "other words", nil }), recovery.Vote{}, verdictSame},
		"delay":     {with(func(d *recovery.Decision) { d.Delay = 6 }), recovery.Vote{}, verdictDelay},
		"action":    {with(func(d *recovery.Decision) { d.Action = recovery.ActionFail }), recovery.Vote{}, verdictDifferent},
		"model":     {with(func(d *recovery.Decision) { d.NewModel = "x/y" }), recovery.Vote{}, verdictDifferent},
		"limit":     {with(func(d *recovery.Decision) { d.BlockedBy = "budget" }), recovery.Vote{}, verdictDifferent},
		"adjust":    {with(func(d *recovery.Decision) { d.Adjust.Compact = true }), recovery.Vote{}, verdictDifferent},
		"no answer": {retry, recovery.Vote{Error: "boom"}, verdictUnanswered},
	} {
		o := occasion{then: &retry}
		if got := o.judge(tt.vote, tt.now); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
	if got := (&occasion{}).judge(recovery.Vote{}, retry); got != verdictUndecided {
		t.Errorf("nothing was decided: %s", got)
	}
}

func TestStandIn(t *testing.T) {
	c := &config.Config{Plugins: []config.Plugin{{Name: "mine", Command: []string{"./old"}, Deadline: "1s"}}}
	for name, tt := range map[string]struct {
		name    string
		command []string
		want    config.Plugin
	}{
		"configured":     {"", []string{"mine"}, c.Plugins[0]},
		"builtin":        {"", []string{"auto-recover"}, config.Plugin{Name: "auto-recover"}},
		"by its program": {"", []string{"/x/Mine", "-v"}, config.Plugin{Name: "mine", Command: []string{"/x/Mine", "-v"}, Deadline: "1s"}},
		"by --name":      {"mine", []string{"python3", "m.py"}, config.Plugin{Name: "mine", Command: []string{"python3", "m.py"}, Deadline: "1s"}},
		"a new one":      {"", []string{"./new"}, config.Plugin{Name: "new", Command: []string{"./new"}}},
	} {
		got, err := StandIn(c, tt.name, tt.command)
		if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v %s", name, err, diff)
		}
	}
	if _, err := StandIn(c, "No Name", []string{"x"}); err == nil {
		t.Error("a name that is none was accepted")
	}
}

// FuzzReplayFile reads untrusted files.
func FuzzReplayFile(f *testing.F) {
	story, err := os.ReadFile("testdata/replay.jsonl")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(story)
	f.Add([]byte("\n{\"delta\":{}}\n{broken"))
	f.Fuzz(func(t *testing.T, file []byte) {
		for events, err := range EventsIn(bytes.NewReader(file)) {
			if err != nil {
				if coded := (*exit.Error)(nil); !errors.As(err, &coded) {
					t.Errorf("not the caller's mistake: %v", err)
				}
				return
			}
			list, err := occasions(events)
			if err != nil {
				return
			}
			for _, o := range list {
				hooks.NewRunError(o.run)
				v := recovery.Vote{Plugin: "x", Action: recovery.ActionRetry}
				o.judge(v, o.decide(v))
			}
		}
	})
}
