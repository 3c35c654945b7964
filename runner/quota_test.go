package runner_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/health"
	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/timeline"
)

// switches names the first alternative, where there is one.
func switches() hooks.Hook {
	return hooks.Func(func(_ context.Context, e hooks.RunError) (recovery.Vote, error) {
		if len(e.Alternatives) == 0 {
			return recovery.Vote{Action: recovery.ActionFail}, nil
		}
		return recovery.Vote{Action: recovery.ActionSwitchModel, NewModel: e.Alternatives[0].Model}, nil
	})
}

// TestAnOwnQuotaIsNotTriedOnce: if one model of an entry whose quota is used up may be asked, it is
// one that has not reported a quota of its own.
func TestAnOwnQuotaIsNotTriedOnce(t *testing.T) {
	quota := failure.NewFailure(failure.KindQuota, failure.OriginModel, failure.PhaseBeforeFirstEvent, nil)
	known, log := health.New(), timeline.NewMemory()
	known.Failed("a/two", *quota, time.Now())
	known.Succeeded("a/one") // so it was not the entry's
	run, err := runner.New(
		runner.WithModel("a/one", script(fails("", quota))), runner.WithModel("a/two", script(answers("two"))), runner.WithModel("a/three", script(answers("three"))),
		runner.WithHealth(known), runner.WithHook("h", switches()), runner.WithAutoRecover(true), runner.WithLog(log),
	).Start(t.Context(), runner.Request{Prompt: "hi"})
	if err != nil {
		t.Fatal(err)
	}
	if result, err := run.Wait(t.Context()); err != nil || result.Text != "three" {
		t.Errorf("%+v, %v", result, err)
	}
}

// TestQuotaOfOneModel: a quota cools the whole entry down. If the only other models are the entry's
// own, exactly one of them is asked; if another entry is available, that one is.
func TestQuotaOfOneModel(t *testing.T) {
	quota := failure.NewFailure(failure.KindQuota, failure.OriginModel, failure.PhaseBeforeFirstEvent, nil)
	billing := failure.NewFailure(failure.KindBilling, failure.OriginModel, failure.PhaseBeforeFirstEvent, nil)
	for name, tt := range map[string]struct {
		first, second error // nil = it answers
		elsewhere     bool
		asked         []string
	}{
		"of one model":      {first: quota, asked: []string{"a/one", "a/two"}},
		"of the entry":      {first: quota, second: quota, asked: []string{"a/one", "a/two"}},
		"another entry":     {first: quota, elsewhere: true, asked: []string{"a/one", "b/two"}},
		"it is the account": {first: billing, asked: []string{"a/one"}},
	} {
		t.Run(name, func(t *testing.T) {
			second := answers("two")
			if tt.second != nil {
				second = fails("", tt.second)
			}
			options := []runner.Option{
				runner.WithModel("a/one", script(fails("", tt.first))), runner.WithModel("a/two", script(second)), runner.WithModel("a/three", script(answers("three"))),
				runner.WithHealth(health.New()), runner.WithHook("h", switches()), runner.WithAutoRecover(true),
			}
			if tt.elsewhere {
				options = append(options, runner.WithModel("b/two", script(answers("elsewhere"))))
			}
			log := timeline.NewMemory()
			run, err := runner.New(append(options, runner.WithLog(log))...).Start(t.Context(), runner.Request{Prompt: "hi"})
			if err != nil {
				t.Fatal(err)
			}
			_, _ = run.Wait(t.Context()) // how it ends is not what is asked
			events, err := log.Read(t.Context(), run.ID(), 0, 0)
			if err != nil {
				t.Fatal(err)
			}
			var asked []string
			for _, e := range events {
				if b, ok := e.Body.(recovery.Began); ok {
					asked = append(asked, b.Model)
				}
			}
			if !slices.Equal(asked, tt.asked) {
				t.Errorf("asked %v, want %v", asked, tt.asked)
			}
		})
	}
}
