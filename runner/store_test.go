package runner_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/timeline"
	"github.com/mulligan-run/mulligan/timeline/timelinetest"
)

// errands counts the side effects of a run: model calls and tools.
type errands struct {
	model *scripted
	tools atomic.Int32
}

func (e *errands) begun() int { return len(e.model.calls()) + int(e.tools.Load()) }

// errand is a runner over log whose runs ask a model, run a tool and ask again.
func errand(log timeline.Log, options ...runner.Option) (*runner.Runner, *errands) {
	e := &errands{model: script(callsTool("c1", "fetch", `{}`), answers("all good"))}
	tool := runner.Tool{Name: "fetch", Run: func(context.Context, runner.ToolCall) (string, error) {
		e.tools.Add(1)
		return "fetched", nil
	}}
	return runner.New(append([]runner.Option{
		runner.WithLog(log), runner.WithModel(primary, e.model), runner.WithTools(tool),
	}, options...)...), e
}

func always(n int) timelinetest.Fault { return timelinetest.Fault{} }

// stored is what the log has of a run, which must fold.
func stored(t *testing.T, log timeline.Log, run string) ([]recovery.Event, *recovery.Run) {
	t.Helper()
	events, err := log.Read(context.WithoutCancel(t.Context()), run, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	state, err := recovery.Fold(events)
	if err != nil {
		t.Fatalf("the log has a gap: %v", err)
	}
	return events, state
}

func pauses(events []recovery.Event) (found []recovery.Paused) {
	for _, e := range events {
		if p, ok := e.Body.(recovery.Paused); ok {
			found = append(found, p)
		}
	}
	return found
}

// TestI33TheStoreFailsAnywhere breaks the store at every append of a run, for a minute, in
// every way. Nothing begins meanwhile, and the run goes on by itself.
func TestI33TheStoreFailsAnywhere(t *testing.T) {
	for name, fault := range map[string]timelinetest.Fault{
		"disk full":            {Err: syscall.ENOSPC},
		"read-only":            {Err: syscall.EROFS},
		"EIO":                  {Err: syscall.EIO},
		"EIO, and written":     {Err: syscall.EIO, After: true},
		"slow":                 {Pause: 3 * time.Second},
		"slow, and full":       {Pause: 3 * time.Second, Err: syscall.ENOSPC},
		"the store says so":    {Err: &timeline.StoreError{File: "f", Reason: "no space left on device"}},
		"slow, but it notices": {Pause: 20 * time.Second, Err: syscall.EIO, After: true},
	} {
		for at := 2; at <= appends; at++ {
			t.Run(fmt.Sprintf("%s/%d", name, at), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { outage(t, fault, at) })
			})
		}
	}
}

// appends is how many appends the run of TestI33TheStoreFailsAnywhere makes; the last one ends it.
const appends = 6

// outage has a run meet fault from its append at on, for a minute.
func outage(t *testing.T, fault timelinetest.Fault, at int) {
	memory := timeline.NewMemory()
	var broken time.Time
	begun := -1
	var e *errands
	log := timelinetest.NewFaulty(memory, func(n int) timelinetest.Fault {
		switch {
		case n < at:
			return timelinetest.Fault{}
		case broken.IsZero():
			broken, begun = time.Now(), e.begun()
		case time.Since(broken) > time.Minute:
			return timelinetest.Fault{}
		case fault.Err != nil && !fault.After && e.begun() != begun:
			t.Errorf("%d effects are begun while the store is broken, %d were", e.begun(), begun)
		}
		return fault
	})
	r, e2 := errand(log)
	e = e2
	run, err := r.Start(t.Context(), runner.Request{Prompt: "hi"})
	if err != nil {
		t.Fatal(err)
	}
	notices := 0
	for item, err := range run.Events() {
		if err != nil {
			t.Fatal(err)
		}
		if n := item.Notice; n != nil {
			notices++
			if n.Run != run.ID() || !strings.HasPrefix(n.Text, "The run waits for its store: ") || !strings.HasSuffix(n.Text, " It goes on by itself.") {
				t.Errorf("notice %+v", n)
			}
		}
	}
	if result, err := run.Wait(t.Context()); err != nil || result.Text != "all good" {
		t.Fatalf("got %+v, %v", result, err)
	}
	if e.begun() != 3 {
		t.Errorf("%d effects, not 2 calls and a tool", e.begun())
	}
	if at == appends {
		return // nothing is written after the end, and nobody follows the run any more once it is there
	}
	events, state := stored(t, memory, run.ID())
	if notices == 0 {
		t.Error("nobody was told")
	}
	if last := events[len(events)-1]; last.Type() == "ended" && len(pauses(events)) == 0 && time.Since(state.Last) < time.Minute {
		t.Error("the log does not say that the run waited")
	}
}

// TestAWaitForTheStoreIsNoIdleness: the step's clock stands still meanwhile.
func TestAWaitForTheStoreIsNoIdleness(t *testing.T) {
	for at := 2; at <= 5; at++ {
		synctest.Test(t, func(t *testing.T) {
			var broken time.Time
			log := timelinetest.NewFaulty(timeline.NewMemory(), func(n int) timelinetest.Fault {
				if n >= at && broken.IsZero() {
					broken = time.Now()
				}
				if n >= at && time.Since(broken) < 10*time.Minute {
					return timelinetest.Fault{Err: syscall.ENOSPC}
				}
				return timelinetest.Fault{}
			})
			r, _ := errand(log, runner.WithTimeouts(recovery.Settings{failure.TimerStep: 30_000}))
			run, err := r.Start(t.Context(), runner.Request{Prompt: "hi"})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := run.Wait(t.Context()); err != nil {
				t.Fatalf("broken at append %d: %v", at, err)
			}
			events, _ := stored(t, log, run.ID())
			if p := pauses(events); len(p) != 1 || p[0].For.Duration() < 10*time.Minute || p[0].Reason != "no space left on device" {
				t.Errorf("broken at append %d: %+v", at, p)
			}
		})
	}
}

// waiting starts a run whose store breaks while its first call is in the air, and waits
// until people are told.
func waiting(ctx context.Context, t *testing.T, log *timelinetest.Faulty, fault timelinetest.Fault) *runner.Run {
	t.Helper()
	r := runner.New(runner.WithLog(log), runner.WithModel(primary, script(stalls("half"))))
	run, err := r.Start(ctx, runner.Request{Prompt: "hi"})
	if err != nil {
		t.Fatal(err)
	}
	log.Break(fault)
	time.Sleep(3 * time.Second)
	return run
}

// TestCancelWhileTheStoreIsBroken: the handle settles, and the log says so as soon as it
// can.
func TestCancelWhileTheStoreIsBroken(t *testing.T) {
	for name, fault := range map[string]timelinetest.Fault{
		"full": {Err: syscall.ENOSPC}, "hangs": {Hang: true}, "written": {Err: syscall.EIO, After: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				log := timelinetest.NewFaulty(timeline.NewMemory(), always)
				run := waiting(t.Context(), t, log, fault)
				asked := time.Now()
				run.Cancel()
				result, err := run.Wait(t.Context())
				if took := time.Since(asked); took > 2*time.Second {
					t.Errorf("the handle settled after %s", took)
				}
				if !errors.Is(err, runner.ErrCancelled) || !errors.Is(err, runner.ErrUnsaved) || result.Status != recovery.StatusCancelled || result.State == nil {
					t.Errorf("got %+v, %v", result, err)
				}
				log.Break(timelinetest.Fault{})
				time.Sleep(10 * time.Second)
				if _, state := stored(t, log, run.ID()); state.Status != recovery.StatusCancelled {
					t.Errorf("the log says %s", state.Status)
				}
			})
		})
	}
}

func TestLetGoWhileTheStoreIsBroken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := timelinetest.NewFaulty(timeline.NewMemory(), always)
		ctx, cancel := context.WithCancelCause(t.Context())
		run := waiting(ctx, t, log, timelinetest.Fault{Err: syscall.ENOSPC})
		asked := time.Now()
		cancel(runner.ErrLetGo)
		if _, err := run.Wait(t.Context()); !errors.Is(err, runner.ErrLetGo) {
			t.Errorf("got %v", err)
		}
		if took := time.Since(asked); took > 8*time.Second {
			t.Errorf("it took %s", took)
		}
		log.Break(timelinetest.Fault{})
		if _, state := stored(t, log, run.ID()); state.End != nil {
			t.Errorf("it has ended: %+v", state.End)
		}
	})
}

// TestPatienceWithTheStoreHasAnEnd: the run is then left as it is and can be resumed.
func TestPatienceWithTheStoreHasAnEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := timelinetest.NewFaulty(timeline.NewMemory(), always)
		began := time.Now()
		run := waiting(t.Context(), t, log, timelinetest.Fault{Err: syscall.ENOSPC})
		if _, err := run.Wait(t.Context()); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("got %v", err)
		}
		if took := time.Since(began); took < time.Hour || took > time.Hour+time.Minute {
			t.Errorf("it gave up after %s", took)
		}
		log.Break(timelinetest.Fault{})
		r, _ := errand(log)
		again, err := r.Resume(t.Context(), run.ID())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := again.Wait(t.Context()); errors.Is(err, syscall.ENOSPC) {
			t.Errorf("resumed: %v", err)
		}
		stored(t, log, run.ID())
	})
}

// TestAStartOnABrokenStoreFailsSoon: whoever starts a run is told, and told why, also where the
// store answers no more in the end.
func TestAStartOnABrokenStoreFailsSoon(t *testing.T) {
	for name, hangs := range map[string]int{"it fails": 1000, "it hangs after that": 3} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				log := timelinetest.NewFaulty(timeline.NewMemory(), func(n int) timelinetest.Fault {
					return timelinetest.Fault{Err: syscall.ENOSPC, Hang: n > hangs}
				})
				r, e := errand(log)
				began := time.Now()
				if _, err := r.Start(t.Context(), runner.Request{Prompt: "hi"}); !errors.Is(err, syscall.ENOSPC) {
					t.Errorf("got %v", err)
				}
				if took := time.Since(began); took > 10*time.Second || e.begun() > 0 {
					t.Errorf("after %s, %d effects", took, e.begun())
				}
			})
		})
	}
}

// TestAStreamDoesNotWaitForItsTail: while the store does not write, the model's text is still read
// and shown; the answer is whole once the store writes again.
func TestAStreamDoesNotWaitForItsTail(t *testing.T) {
	const pieces, size = 40, 128 << 10
	synctest.Test(t, func(t *testing.T) {
		log := timelinetest.NewFaulty(timeline.NewMemory(), always)
		var mu sync.Mutex
		said := 0
		model := script(func(_ context.Context, hear func(llm.Delta) bool) error {
			hear(llm.Delta{Kind: llm.DeltaStart})
			for range pieces {
				if !hear(llm.Delta{Kind: llm.DeltaText, Text: strings.Repeat("x", size)}) {
					return nil
				}
				mu.Lock()
				said++
				mu.Unlock()
			}
			hear(llm.Delta{Kind: llm.DeltaStop, Stop: llm.StopEnd})
			return nil
		})
		r := runner.New(runner.WithLog(log), runner.WithModel(primary, model))
		run, err := r.Start(t.Context(), runner.Request{Prompt: "hi"})
		if err != nil {
			t.Fatal(err)
		}
		log.Break(timelinetest.Fault{Err: syscall.ENOSPC})
		time.Sleep(10 * time.Minute)
		mu.Lock()
		if said != pieces {
			t.Errorf("%d of %d pieces were heard while nothing could be written", said, pieces)
		}
		mu.Unlock()
		log.Break(timelinetest.Fault{})
		if result, err := run.Wait(t.Context()); err != nil || len(result.Text) != pieces*size {
			t.Errorf("got %d bytes, %v", len(result.Text), err)
		}
	})
}

// slowModels is slow to look a model up, like a process that is suspended.
type slowModels struct {
	model *scripted
	pause time.Duration
}

func (m slowModels) Model(string) (llm.Model, error) {
	time.Sleep(m.pause)
	return m.model, nil
}
func (m slowModels) Has(string) bool                      { return true }
func (m slowModels) Capabilities(string) llm.Capabilities { return llm.Capabilities{} }

// TestI35AnOwnerThatStoodStillCallsNoModel: between the durable intent and the call the process is
// suspended for longer than its lease.
func TestI35AnOwnerThatStoodStillCallsNoModel(t *testing.T) {
	const still = 20 * time.Second
	for name, taken := range map[string]bool{"taken": true, "nobody came": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				memory := timeline.NewMemory()
				frozen := timelinetest.NewFaulty(memory, always)
				model := script(answers("late"))
				r := runner.New(runner.WithLog(tenant{frozen, "one"}), runner.WithModels(slowModels{model, still}, primary))
				go func() {
					time.Sleep(still + time.Second) // Start looks the model up, too
					frozen.Break(timelinetest.Fault{Err: syscall.EIO})
					time.Sleep(still - 2*time.Second)
					frozen.Break(timelinetest.Fault{})
				}()
				run, err := r.Start(t.Context(), runner.Request{Prompt: "hi"})
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(still - 3*time.Second)
				if taken {
					if _, err := memory.Claim(t.Context(), run.ID(), "two", time.Hour); err != nil {
						t.Fatal(err)
					}
				}
				_, err = run.Wait(t.Context())
				if calls := len(model.calls()); taken && (calls > 0 || !errors.Is(err, timeline.ErrStale)) || !taken && (calls != 1 || err != nil) {
					t.Errorf("%d calls, %v", calls, err)
				}
			})
		})
	}
}
