package runner_test

import (
	"context"
	"errors"
	"fmt"
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

// saves counts how often tails are saved, by run.
type saves struct {
	timeline.Log
	mu    sync.Mutex
	times map[string]int
}

func (s *saves) SaveTail(ctx context.Context, l timeline.Lease, tail timeline.Tail) error {
	s.mu.Lock()
	s.times[l.Run]++
	s.mu.Unlock()
	return s.Log.SaveTail(ctx, l, tail)
}

// TestTails: text is saved every 250 ms; the more runs stream at a time, the less often that of
// each; those that have ended do not count.
func TestTails(t *testing.T) {
	const length = 20 * time.Second
	speaks := func(ctx context.Context, hear func(llm.Delta) bool) error {
		hear(llm.Delta{Kind: llm.DeltaStart})
		for range int(length / (50 * time.Millisecond)) {
			hear(llm.Delta{Kind: llm.DeltaText, Text: "word "})
			time.Sleep(50 * time.Millisecond)
		}
		hear(llm.Delta{Kind: llm.DeltaStop, Stop: llm.StopEnd})
		return nil
	}
	synctest.Test(t, func(t *testing.T) {
		log := &saves{Log: timeline.NewMemory(), times: map[string]int{}}
		r := runner.New(runner.WithModel(primary, script(speaks)), runner.WithLog(log))
		for _, step := range []struct {
			runs int
			want time.Duration
		}{{50, 250 * time.Millisecond}, {200, time.Second}, {500, 2500 * time.Millisecond}, {1, 250 * time.Millisecond}} {
			var group sync.WaitGroup
			for i := range step.runs {
				id := fmt.Sprint(step.runs, "-", i)
				group.Go(func() {
					run, err := r.Start(t.Context(), runner.Request{ID: id, Prompt: "hi"})
					if err == nil {
						_, err = run.Wait(t.Context())
					}
					if err != nil {
						t.Error(err)
					}
				})
			}
			group.Wait()
			kept := log.times[fmt.Sprint(step.runs, "-0")]
			if want := int(length / step.want); kept < want*4/5 || kept > want+1 { // it begins with the next word after it
				t.Errorf("with %d runs text is saved %d times in %v, not every %v", step.runs, kept, length, step.want)
			}
		}
	})
}

// TestACrashKeepsWhatWasSaved: who goes on with a run whose process died in the middle of an
// answer writes down what was saved of that, and it is withdrawn once another attempt begins.
func TestACrashKeepsWhatWasSaved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := renamed{timeline.NewMemory(), "owner"} // who may claim its own run at once
		build := func(steps ...step) *runner.Runner {
			return runner.New(runner.WithLog(log), runner.WithModel(primary, script(steps...)), runner.WithAutoRecover(true),
				runner.WithHook("h", advise(retryNow)))
		}
		died, err := build(stalls("It is")).Start(t.Context(), runner.Request{Prompt: "hi"})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		run, err := build(answers("It is clear")).Resume(t.Context(), died.ID())
		if err != nil {
			t.Fatal(err)
		}
		if result, err := run.Wait(t.Context()); err != nil || result.Text != "It is clear" {
			t.Fatalf("got %+v, %v", result, err)
		}
		events, err := log.Read(t.Context(), died.ID(), 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		failed, began := bodies[recovery.Failed](events), bodies[recovery.Began](events)
		if len(failed) != 1 || failed[0].Failure.Kind != failure.KindInterrupted || failed[0].Text != "It is" || began[1].Withdraws != 1 {
			t.Errorf("I09: of the first attempt there is %+v, and then %+v", failed, began)
		}
		died.Cancel()
		_, _ = died.Wait(t.Context())
	})
}

// TestInspectSaysWhatIsSaid: who looks at a run in the middle of an answer sees it so far.
func TestInspectSaysWhatIsSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := runner.New(runner.WithModel(primary, script(stalls("It is"))))
		run, err := r.Start(t.Context(), runner.Request{Prompt: "hi"})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if state, err := r.Inspect(t.Context(), run.ID()); err != nil || state.Answer() != "It is" {
			t.Errorf("it says %q, %v", state.Answer(), err)
		}
		run.Cancel()
		result, _ := run.Wait(t.Context())
		if state, err := r.Inspect(t.Context(), run.ID()); err != nil || state.Answer() != "It is" || result.Text != "It is" {
			t.Errorf("once it was stopped it says %q, %v; its result is %q", state.Answer(), err, result.Text)
		}
	})
}

// TestSpeakingIsProgress: while a model sends text no note says that the run still works, and if
// text counts as progress the step's timer starts again; once the model is silent, both timers run
// out.
func TestSpeakingIsProgress(t *testing.T) {
	const word, silence = 2 * time.Second, 10 * time.Second
	for words, ends := range map[int]error{30: nil, 15: errors.New("step")} {
		t.Run(fmt.Sprint(words, " words"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				log := timeline.NewMemory()
				model := script(func(ctx context.Context, hear func(llm.Delta) bool) error {
					hear(llm.Delta{Kind: llm.DeltaStart})
					for range words {
						hear(llm.Delta{Kind: llm.DeltaText, Text: "word "})
						time.Sleep(word)
					}
					if ends != nil {
						<-ctx.Done()
						return context.Cause(ctx)
					}
					hear(llm.Delta{Kind: llm.DeltaStop, Stop: llm.StopEnd})
					return nil
				})
				r := runner.New(runner.WithLog(log), runner.WithModel(primary, model), runner.WithPolicy(func(p *recovery.Policy) {
					p.Timeouts.Step, p.Timeouts.ProgressAfter, p.StepCountsText = failure.InMillis(silence), failure.InMillis(5*time.Second), true
				}))
				run, err := r.Start(t.Context(), runner.Request{Prompt: "hi"})
				if err != nil {
					t.Fatal(err)
				}
				began := time.Now()
				result, err := run.Wait(t.Context())
				if (err != nil) != (ends != nil) || result.Text != strings.Repeat("word ", words) {
					t.Errorf("after %v: %q, %v", time.Since(began), result.Text, err)
				}
				last := time.Duration(words-1) * word
				events, err := log.Read(t.Context(), run.ID(), 0, 0)
				if err != nil {
					t.Fatal(err)
				}
				for _, e := range events {
					at := e.Time.Sub(began).Round(time.Second)
					switch b := e.Body.(type) {
					case recovery.Noted:
						if b.Topic == recovery.TopicProgress && at < last+5*time.Second {
							t.Errorf("after %v: %s", at, e.Text)
						}
					case recovery.Due:
						if at != last+silence {
							t.Errorf("the step is over after %v", at)
						}
					}
				}
			})
		})
	}
}
