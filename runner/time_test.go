package runner_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/health"
	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/timeline"
)

// lines are what people were told.
func lines(t *testing.T, log timeline.Log, run string) []string {
	t.Helper()
	events, err := log.Read(context.Background(), run, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, e := range events {
		if e.Text != "" {
			said = append(said, e.Text)
		}
	}
	return said
}

func wantLines(t *testing.T, log timeline.Log, run string, want ...string) {
	t.Helper()
	if said := lines(t, log, run); !slices.Equal(said, want) {
		t.Errorf("people were told\n%s\nnot\n%s", strings.Join(said, "\n"), strings.Join(want, "\n"))
	}
}

// TestI24AClockThatIsSet: the wall clock jumps by an hour, forward and back, while a tool
// runs; no deadline of the run moves.
func TestI24AClockThatIsSet(t *testing.T) {
	for _, jump := range []time.Duration{time.Hour, -time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			var offset atomic.Int64
			began := time.Now()
			wall := func() time.Time { return time.Now().Add(time.Duration(offset.Load())) }
			tool := runner.Tool{Name: "run_tests", Run: func(context.Context, runner.ToolCall) (string, error) {
				time.Sleep(time.Minute)
				offset.Store(int64(jump))
				time.Sleep(time.Minute)
				return "green", nil
			}}
			r := runner.New(runner.WithModel(primary, script(callsTool("c1", "run_tests", `{}`), answers("ok"))), runner.WithTools(tool),
				runner.WithClock(wall), runner.WithTimeouts(recovery.Settings{"step": 150_000, "max_turn": 300_000, "run": 300_000}))
			run, err := r.Start(t.Context(), runner.Request{Prompt: "hi"})
			if err != nil {
				t.Fatal(err)
			}
			if result, err := run.Wait(t.Context()); err != nil || result.Text != "ok" {
				t.Errorf("the clock jumped by %s: %+v, %v", jump, result, err)
			}
			if took := time.Since(began); took != 2*time.Minute {
				t.Errorf("it took %s", took)
			}
		})
	}
}

// clocked is a log whose clock is an hour fast.
type clocked struct{ timeline.Log }

func (clocked) Now() time.Time { return time.Now().Add(time.Hour) }

// TestTheClockOfTheLog: events are dated by the clock of those who share the log.
func TestTheClockOfTheLog(t *testing.T) {
	log := clocked{timeline.NewMemory()}
	r := runner.New(runner.WithModel(primary, script(answers("ok"))), runner.WithLog(log))
	run, err := r.Start(t.Context(), runner.Request{Prompt: "hi"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := run.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	events, _ := stored(t, log, run.ID())
	for _, e := range events {
		if ahead := time.Until(e.Time); ahead < 50*time.Minute {
			t.Errorf("event %d is dated %s from now", e.Seq, ahead)
		}
	}
}

// TestASleepIsNobodysIdleness: the computer sleeps for eight hours in the middle of a stream. The
// half hour of the turn does not count that time, and the stream that broke is not waited for.
func TestASleepIsNobodysIdleness(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var slept atomic.Int64
		log := timeline.NewMemory()
		r := runner.New(runner.WithModel(primary, script(stalls("It is"), answers("It is clear"))), runner.WithLog(log),
			runner.WithAutoRecover(true), runner.WithHook("h", advise(retryNow)),
			runner.WithSleep(func() time.Duration { return time.Duration(slept.Load()) }),
			runner.WithTimeouts(recovery.Settings{"max_turn": 1_800_000}))
		run, err := r.Start(t.Context(), runner.Request{Prompt: "hi"})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		slept.Store(int64(8 * time.Hour))
		result, err := run.Wait(t.Context())
		if err != nil || result.Text != "It is clear" {
			t.Fatalf("got %+v, %v", result, err)
		}
		if result.State.Parked != 8*time.Hour {
			t.Errorf("%s do not count", result.State.Parked)
		}
		wantLines(t, log, run.ID(), "This computer slept for 8 h.",
			"The answer was cut off. This computer went to sleep while a was answering.",
			"The answer was cut off. Retrying… (attempt 1/3)", "Recovered after 1 retry", "Done.")
	})
}

// network is a network that is unreachable until a given time.
type network struct {
	back  time.Time
	asked atomic.Int32
}

func (n *network) Offline(context.Context, []string) bool {
	n.asked.Add(1)
	return time.Now().Before(n.back)
}

var noRoute = failure.NewFailure(failure.KindUnreachable, failure.OriginModel, failure.PhaseBeforeConnect, nil)

// TestI39ASleepBeforeTheFailure: the computer slept while the provider was busy, and the run
// hears of both at once. The model is left alone from the failure on, and not from before
// the sleep.
func TestI39ASleepBeforeTheFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const nap = 40 * time.Second
		var slept atomic.Int64
		busy := func(context.Context, func(llm.Delta) bool) error {
			slept.Store(int64(nap))
			return failure.NewFailure(failure.KindOverloaded, failure.OriginModel, failure.PhaseBeforeFirstEvent, nil)
		}
		known, began := health.New(), time.Now()
		r := runner.New(runner.WithModel(primary, script(busy)), runner.WithHealth(known),
			runner.WithSleep(func() time.Duration { return time.Duration(slept.Load()) }))
		run, err := r.Start(t.Context(), runner.Request{Prompt: "hi"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := run.Wait(t.Context()); err == nil {
			t.Fatal("it did not fail")
		}
		synctest.Wait()
		if c, cooling := known.Cooling(primary, began.Add(nap)); !cooling || c.Until.Before(began.Add(nap+30*time.Second)) {
			t.Errorf("%v until %v, which is %v after it began", cooling, c.Until, c.Until.Sub(began))
		}
	})
}

func TestOfflineWaitsForTheNetwork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, net := timeline.NewMemory(), &network{back: time.Now().Add(7 * time.Minute)}
		model := script(fails("", noRoute), answers("back"))
		r := runner.New(runner.WithModel(primary, model), runner.WithLog(log), runner.WithConnectivity(net),
			runner.WithAutoRecover(true), runner.WithHook("h", advise(retryNow)))
		run, err := r.Start(t.Context(), runner.Request{Prompt: "hi"})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		list, err := log.List(t.Context(), timeline.Query{Status: recovery.StatusWaiting})
		if err != nil || len(list) != 1 {
			t.Fatalf("the runs that wait: %+v, %v", list, err)
		}
		result, err := run.Wait(t.Context())
		if err != nil || result.Text != "back" || len(model.calls()) != 2 {
			t.Fatalf("got %+v, %v after %d requests", result, err, len(model.calls()))
		}
		if n := result.State.FailedAttempts; n != 1 {
			t.Errorf("%d attempts failed", n)
		}
		wantLines(t, log, run.ID(), "Could not reach a. Check your Internet connection.", "This computer is offline. The run continues when the connection is back.",
			"The connection is back. The run continues.", "Done.")
	})
}

func TestOfflineWithoutAutoRecoverAsksAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := &network{back: time.Now().Add(time.Hour)}
		model := script(fails("", noRoute))
		r := runner.New(runner.WithModel(primary, model), runner.WithConnectivity(net), runner.WithHook("h", advise(retryNow)))
		began := time.Now()
		_, err := r.Run(t.Context(), "hi")
		if failed := wantError(t, err, failure.KindUnreachable); failed.Suggestion == nil {
			t.Error("nothing is suggested")
		}
		if took := time.Since(began); took > time.Second || len(model.calls()) != 1 || net.asked.Load() != 0 {
			t.Errorf("it took %s, %d requests and %d looks at the network", took, len(model.calls()), net.asked.Load())
		}
	})
}

// TestAProviderThatIsDownIsNotTheNetwork: with a connection the retries are made.
func TestAProviderThatIsDownIsNotTheNetwork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		model := script(fails("", noRoute), answers("up"))
		r := runner.New(runner.WithModel(primary, model), runner.WithConnectivity(&network{}), runner.WithAutoRecover(true), runner.WithHook("h", advise(retryNow)))
		run, err := r.Start(t.Context(), runner.Request{Prompt: "hi"})
		if err != nil {
			t.Fatal(err)
		}
		if result, err := run.Wait(t.Context()); err != nil || result.State.Call.Retries != 0 || len(model.calls()) != 2 {
			t.Errorf("got %+v, %v", result, err)
		}
	})
}

// TestLetGo: a process that has to leave lets go of its run in mid-stream and in mid-tool;
// the next one goes on.
func TestLetGo(t *testing.T) {
	for _, c := range []struct {
		name string
		safe recovery.Safety
		runs int32
		told string
	}{
		{"idempotent", recovery.SafetyIdempotent, 2, "done"},
		{"unsafe", recovery.SafetyUnsafe, 1, "was stopped"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var ran atomic.Int32
				tool := runner.Tool{Name: "charge", Safety: c.safe, Run: func(ctx context.Context, _ runner.ToolCall) (string, error) {
					if ran.Add(1) > 1 {
						return "done", nil
					}
					<-ctx.Done()
					return "", errors.New("charge was stopped")
				}}
				log := timeline.NewMemory()
				model := script(callsTool("c1", "charge", `{}`), stalls("It is"), answers("It is paid"))
				r := runner.New(runner.WithModel(primary, model), runner.WithTools(tool), runner.WithLog(log),
					runner.WithAutoRecover(true), runner.WithHook("h", advise(retryNow)))
				ctx, letGo := context.WithCancelCause(t.Context())
				run, err := r.Start(ctx, runner.Request{Prompt: "hi"})
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Second)
				letGo(runner.ErrLetGo)
				began := time.Now()
				if _, err := run.Wait(t.Context()); !errors.Is(err, runner.ErrLetGo) || time.Since(began) > 2*time.Second {
					t.Fatalf("let go after %s: %v", time.Since(began), err)
				}
				ctx, letGo = context.WithCancelCause(t.Context())
				if run, err = r.Resume(ctx, run.ID()); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Second)
				letGo(runner.ErrLetGo) // in mid-stream now
				if result, err := run.Wait(t.Context()); !errors.Is(err, runner.ErrLetGo) || result.Text != "It is" {
					t.Fatalf("let go in mid-stream: %+v, %v", result, err)
				}
				if run, err = r.Resume(t.Context(), run.ID()); err != nil {
					t.Fatal(err)
				}
				result, err := run.Wait(t.Context())
				if err != nil || result.Text != "It is paid" || ran.Load() != c.runs {
					t.Errorf("got %+v, %v; the tool ran %d times", result, err, ran.Load())
				}
				calls := model.calls()
				if told := toolText(calls[len(calls)-1]); !strings.Contains(told, c.told) {
					t.Errorf("the model was told %q", told)
				}
			})
		})
	}
}

func toolText(q llm.Request) string {
	for _, m := range q.Messages {
		for _, p := range m.Parts {
			if p.Result != nil {
				return p.Result.Text
			}
		}
	}
	return ""
}

// TestCancelInADeafTool: the run settles although a tool ignores its context; Drain waits for the
// tool, and its end is recorded afterwards.
func TestCancelInADeafTool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tool := runner.Tool{Name: "deaf", Run: func(context.Context, runner.ToolCall) (string, error) {
			time.Sleep(9 * time.Second)
			return "done", nil
		}}
		log := timeline.NewMemory()
		asked := 0
		r := runner.New(runner.WithModel(primary, script(callsTool("c1", "deaf", `{}`))), runner.WithTools(tool), runner.WithLog(log),
			runner.WithHook("h", hooks.Func(func(context.Context, hooks.RunError) (recovery.Vote, error) {
				asked++
				return retryNow, nil
			})))
		run, err := r.Start(t.Context(), runner.Request{Prompt: "hi"})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		began := time.Now()
		run.Cancel()
		result, err := run.Wait(t.Context())
		if !errors.Is(err, runner.ErrCancelled) || result.Status != recovery.StatusCancelled || time.Since(began) > 2*time.Second {
			t.Errorf("after %s: %+v, %v", time.Since(began), result, err)
		}
		if err := r.Drain(t.Context()); err != nil || time.Since(began) < 7*time.Second || asked != 0 {
			t.Errorf("drained after %s: %v; %d hooks were asked", time.Since(began), err, asked)
		}
		wantLines(t, log, run.ID(), "Stopped.", "deaf ended after the run had.")
	})
}

// TestToolsSayHowFarTheyAre: progress notes that come too fast are dropped, so that there is a
// pause between two of them.
func TestToolsSayHowFarTheyAre(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var once sync.Once
		tool := runner.Tool{Name: "build", Run: func(ctx context.Context, _ runner.ToolCall) (string, error) {
			once.Do(func() { time.Sleep(25 * time.Second) })
			for range 15 {
				runner.Progress(ctx, "step\n7\x1b[31m of 9 \xff"+strings.Repeat("…", 300))
				time.Sleep(time.Second)
			}
			time.Sleep(time.Minute)
			return "done", nil
		}}
		log := timeline.NewMemory()
		r := runner.New(runner.WithModel(primary, script(callsTool("c1", "build", `{}`), answers("ok"))), runner.WithTools(tool), runner.WithLog(log))
		run, err := r.Start(t.Context(), runner.Request{Prompt: "hi"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := run.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		said := lines(t, log, run.ID())
		if len(said) != 4 || !strings.HasPrefix(said[0], "build: step 7 [31m of 9 ") || len(said[0]) > 250 ||
			said[1] != "Still working: build, 45 s" || said[2] != "Still working: build, 1 min 5 s" {
			t.Errorf("people were told\n%s", strings.Join(said, "\n"))
		}
	})
}

func TestUnknownOutcomeOfATool(t *testing.T) {
	for safety, want := range map[recovery.Safety]recovery.Outcome{
		recovery.SafetyUnsafe: recovery.OutcomeUnknown, recovery.SafetyReadOnly: recovery.OutcomeError,
	} {
		tool := runner.Tool{Name: "send", Safety: safety, Run: func(context.Context, runner.ToolCall) (string, error) {
			return "", errors.Join(errors.New("the server died"), runner.ErrOutcomeUnknown)
		}}
		log := timeline.NewMemory()
		r := runner.New(runner.WithModel(primary, script(callsTool("c1", "send", `{}`), answers("ok"))), runner.WithTools(tool), runner.WithLog(log))
		run, err := r.Start(t.Context(), runner.Request{Prompt: "hi"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := run.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		events, _ := log.Read(t.Context(), run.ID(), 0, 0)
		for _, e := range events {
			if b, ok := e.Body.(recovery.ToolReturned); ok && b.Outcome != want {
				t.Errorf("a %q tool: %s, not %s", safety, b.Outcome, want)
			}
		}
	}
}
