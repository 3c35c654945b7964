package runner_test

import (
	"context"
	"errors"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/timeline"
	"github.com/mulligan-run/mulligan/timeline/timelinetest"
)

// driveFor drives a run for a moment, by a process of its own that is then told to end, and gives how long
// that took.
func driveFor(t *testing.T, log timeline.Log, id string, model llm.Model, end func()) (run string, took time.Duration) {
	t.Helper()
	r := runner.New(runner.WithLog(log), runner.WithModel(primary, model), runner.WithAutoRecover(true), runner.WithHook("h", advise(retryNow)))
	ctx, letGo := context.WithCancelCause(t.Context())
	begin := func() (*runner.Run, error) { return r.Start(ctx, runner.Request{Prompt: "hi"}) }
	if id != "" {
		begin = func() (*runner.Run, error) { return r.Resume(ctx, id) }
	}
	driven, err := begin()
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(2 * time.Second)
	if end != nil {
		end()
	}
	told := time.Now()
	letGo(runner.ErrLetGo)
	if _, err := driven.Wait(t.Context()); !errors.Is(err, runner.ErrLetGo) {
		t.Fatalf("the process that is told to end: %v", err)
	}
	return driven.ID(), time.Since(told)
}

// TestI46ManyDeploysInOneAnswer: processes are replaced in the middle of an answer, and nobody is asked.
func TestI46ManyDeploysInOneAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, model := timeline.NewMemory(), script(stalls("It is"), stalls("It is"), stalls("It is"), stalls("It is"), stalls("It is"), answers("It is done"))
		id := ""
		for range recovery.MaxAttemptsPerCall - 1 {
			id, _ = driveFor(t, log, id, model, nil)
			events, state := stored(t, log, id)
			over, ok := events[len(events)-1].Body.(recovery.Failed)
			if !ok || over.Cause != recovery.CauseHandedOver || over.Text != "It is" || state.Crashes != 0 || state.Answer() != "It is" {
				t.Fatalf("%d interruptions; the last event is %+v", state.Crashes, events[len(events)-1])
			}
		}
		r := runner.New(runner.WithLog(log), runner.WithModel(primary, model), runner.WithHook("h", advise(retryNow)))
		run, err := r.Resume(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if result, err := run.Wait(t.Context()); err != nil || result.Text != "It is done" {
			t.Errorf("got %+v, %v", result, err)
		}
	})
}

// TestI46AStoreThatDoesNotAnswer holds no process up that is told to end. The attempt then counts as
// interrupted, unless the store has the hand-over and only seemed to fail.
func TestI46AStoreThatDoesNotAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		fault   timelinetest.Fault
		crashes int
	}{
		"hangs":   {timelinetest.Fault{Hang: true}, 1},
		"full":    {timelinetest.Fault{Err: syscall.ENOSPC}, 1},
		"written": {timelinetest.Fault{Err: syscall.EIO, After: true}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				log := timelinetest.NewFaulty(timeline.NewMemory(), always)
				id, took := driveFor(t, log, "", script(stalls("It is")), func() { log.Break(c.fault) })
				if took > 5*time.Second {
					t.Errorf("it took %s", took)
				}
				log.Break(timelinetest.Fault{})
				time.Sleep(time.Minute) // nobody could release it
				driveFor(t, log, id, script(stalls("It is")), nil)
				if _, state := stored(t, log, id); state.Crashes != c.crashes {
					t.Errorf("%d interruptions, not %d", state.Crashes, c.crashes)
				}
			})
		})
	}
}

// TestI46AnAnswerJustBefore: an answer that was complete when its process was told to end is kept, though
// the loop was busy.
func TestI46AnAnswerJustBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := timelinetest.NewFaulty(timeline.NewMemory(), always)
		slow := func(ctx context.Context, hear func(llm.Delta) bool) error {
			time.Sleep(2*time.Second - 200*time.Millisecond)
			log.Break(timelinetest.Fault{Pause: time.Second})
			hear(llm.Delta{Kind: llm.DeltaRepaired, Repairs: []llm.Repair{{Kind: llm.RepairImage, Count: 1}}})
			return answers("It is done")(ctx, hear)
		}
		id, _ := driveFor(t, log, "", script(slow), nil)
		log.Break(timelinetest.Fault{})
		if _, state := stored(t, log, id); state.Open != nil || state.Answer() != "It is done" {
			t.Errorf("%q, %+v", state.Answer(), state.Open)
		}
	})
}
