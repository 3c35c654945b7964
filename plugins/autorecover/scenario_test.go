package autorecover_test

import (
	"context"
	"iter"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/plugins/autorecover"
	"github.com/mulligan-run/mulligan/runner"
)

// scripted is a model of which each call goes as its function says.
type scripted struct {
	calls atomic.Int64
	play  func(ctx context.Context) error // nil = it answers
}

func (s *scripted) Stream(ctx context.Context, _ llm.Request) iter.Seq2[llm.Delta, error] {
	s.calls.Add(1)
	return func(yield func(llm.Delta, error) bool) {
		if err := s.play(ctx); err != nil {
			yield(llm.Delta{}, err)
			return
		}
		_ = yield(llm.Delta{Kind: llm.DeltaStart}, nil) &&
			yield(llm.Delta{Kind: llm.DeltaText, Text: "Hello."}, nil) &&
			yield(llm.Delta{Kind: llm.DeltaStop, Stop: llm.StopEnd}, nil)
	}
}

func answering() *scripted { return &scripted{play: func(context.Context) error { return nil }} }

// silent never says anything.
func silent() *scripted {
	return &scripted{play: func(ctx context.Context) error {
		<-ctx.Done()
		return context.Cause(ctx)
	}}
}

// story is a run with auto-recover in process and no dice, in virtual time.
func story(t *testing.T, config autorecover.Config, models map[string]*scripted, want string, check func(took time.Duration, calls int64, err error)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		config.Jitter = 0
		options := []runner.Option{runner.WithAutoRecover(true), runner.WithHook(autorecover.Name, config.Hook())}
		for _, name := range []string{fable, quill} {
			if models[name] != nil {
				options = append(options, runner.WithModel(name, models[name]))
			}
		}
		began := time.Now()
		answer, err := runner.New(options...).Run(t.Context(), "hi")
		if answer != want {
			t.Errorf("after %s: %q, %v", time.Since(began), answer, err)
		}
		calls := int64(0)
		for _, m := range models {
			calls += m.calls.Load()
		}
		check(time.Since(began), calls, err)
	})
}

// TestASilentModelIsLeftInTime: with another model that is well the answer is there within 45 s.
func TestASilentModelIsLeftInTime(t *testing.T) {
	models := map[string]*scripted{fable: silent(), quill: answering()}
	story(t, autorecover.DefaultConfig(), models, "Hello.", func(took time.Duration, calls int64, _ error) {
		if took > 45*time.Second || calls != 2 {
			t.Errorf("it took %s and %d calls", took, calls)
		}
	})
}

// TestASilentModelAloneIsAskedAgain: where there is no other, it may have been the moment.
func TestASilentModelAloneIsAskedAgain(t *testing.T) {
	model := answering()
	model.play = func(ctx context.Context) error {
		if model.calls.Load() == 1 {
			return silent().play(ctx)
		}
		return nil
	}
	story(t, autorecover.DefaultConfig(), map[string]*scripted{fable: model}, "Hello.", func(_ time.Duration, calls int64, _ error) {
		if calls != 2 {
			t.Errorf("%d calls", calls)
		}
	})
}
