package autorecover_test

import (
	"context"
	"errors"
	"iter"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/plugins/autorecover"
	"github.com/mulligan-run/mulligan/recovery"
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

// TestASilentModelIsLeftInTime: if another model is available the answer is there within 45 s.
func TestASilentModelIsLeftInTime(t *testing.T) {
	models := map[string]*scripted{fable: silent(), quill: answering()}
	story(t, autorecover.DefaultConfig(), models, "Hello.", func(took time.Duration, calls int64, _ error) {
		if took > 45*time.Second || calls != 2 {
			t.Errorf("it took %s and %d calls", took, calls)
		}
	})
}

// TestASilentModelAloneIsAskedAgain: if there is no other model, the same one is asked once more.
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

// failsFor is down for some time from its first call on.
func failsFor(down time.Duration, status int) *scripted {
	s := &scripted{}
	var began time.Time
	s.play = func(context.Context) error {
		if began.IsZero() {
			began = time.Now()
		}
		if time.Since(began) >= down {
			return nil
		}
		kind := failure.KindUnavailable
		if status == 429 {
			kind = failure.KindRateLimit
		}
		return failure.NewFailure(kind, failure.OriginModel, failure.PhaseBeforeFirstEvent, nil)
	}
	return s
}

// TestWhatPassesHasTime: retries outlast outages of some seconds, however they are spread.
func TestWhatPassesHasTime(t *testing.T) {
	eager := autorecover.DefaultConfig()
	eager.AfterRetries = 1
	quick := autorecover.DefaultConfig()
	quick.Delays = []time.Duration{time.Millisecond}
	for name, c := range map[string]struct {
		config autorecover.Config
		models map[string]*scripted
	}{
		"two models down for 8 s":               {autorecover.DefaultConfig(), map[string]*scripted{fable: failsFor(8*time.Second, 503), quill: failsFor(8*time.Second, 503)}},
		"the same, and switching after a retry": {eager, map[string]*scripted{fable: failsFor(8*time.Second, 503), quill: failsFor(8*time.Second, 503)}},
		"a storm of 429 for 6 s":                {autorecover.DefaultConfig(), map[string]*scripted{fable: failsFor(6*time.Second, 429), quill: failsFor(6*time.Second, 429)}},
		"a storm, and switching after a retry":  {eager, map[string]*scripted{fable: failsFor(6*time.Second, 429), quill: failsFor(6*time.Second, 429)}},
		"one model, and no pauses":              {quick, map[string]*scripted{fable: failsFor(20*time.Second, 503)}},
	} {
		t.Run(name, func(t *testing.T) {
			story(t, c.config, c.models, "Hello.", func(took time.Duration, calls int64, _ error) {
				if took > 30*time.Second || calls > recovery.MaxAttemptsInAll {
					t.Errorf("it took %s and %d calls", took, calls)
				}
			})
		})
	}
}

// TestPatienceEnds: what does not pass is over after the last round, with every model asked in
// it once, and a person is asked.
func TestPatienceEnds(t *testing.T) {
	models := map[string]*scripted{fable: failsFor(time.Hour, 503), quill: failsFor(time.Hour, 503)}
	story(t, autorecover.DefaultConfig(), models, "", func(took time.Duration, calls int64, err error) {
		failed, ok := errors.AsType[*runner.Error](err)
		if !ok || failed.Suggestion == nil || took > 31*time.Second || took < 20*time.Second || calls != recovery.MaxAttemptsInAll {
			t.Errorf("it took %s and %d calls: %v", took, calls, err)
		}
	})
}

// TestTheCallersDeadlineIsThePatience: who waits for 12 s is not told of it after 30.
func TestTheCallersDeadlineIsThePatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := autorecover.DefaultConfig()
		config.Delays, config.Jitter = []time.Duration{time.Millisecond}, 0
		model := failsFor(8*time.Second, 503)
		ctx, cancel := context.WithTimeout(t.Context(), 12*time.Second)
		defer cancel()
		answer, err := runner.New(runner.WithAutoRecover(true), runner.WithHook(autorecover.Name, config.Hook()), runner.WithModel(fable, model)).Run(ctx, "hi")
		if answer != "Hello." {
			t.Errorf("%q, %v", answer, err)
		}
	})
}
