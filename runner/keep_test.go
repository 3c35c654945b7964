package runner_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
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

// wall is a wall clock that can be put forward, as after a sleep.
type wall struct {
	mu    sync.Mutex
	ahead time.Duration
}

func (w *wall) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Now().Add(w.ahead)
}

func (w *wall) jump(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ahead += d
}

// tenant is a process of its own over a log that several share.
type tenant struct {
	timeline.Log
	owner string
}

func (l tenant) Claim(ctx context.Context, run, _ string, ttl time.Duration) (timeline.Lease, error) {
	return l.Log.Claim(ctx, run, l.owner, ttl)
}

func (l tenant) Keep(ctx context.Context, _ string, ttl time.Duration) (timeline.Kept, error) {
	return l.Log.Keep(ctx, l.owner, ttl)
}

func (l tenant) Begin(
	ctx context.Context, run, _ string, ttl time.Duration, first func(timeline.Lease) []recovery.Event,
) (timeline.Lease, error) {
	return l.Log.Begin(ctx, run, l.owner, ttl, first)
}

// harness is a log, a clock and a model that several runners share.
type harness struct {
	*testing.T
	log   timeline.Log
	clock wall
	model *scripted
	other *scripted
}

func newHarness(t *testing.T, steps ...step) *harness {
	return &harness{T: t, log: timeline.NewMemory(), model: script(steps...), other: script(answers("from two"))}
}

// process is another process that may drive the runs of the harness.
func (h *harness) process(name string) *runner.Runner {
	return runner.New(runner.WithModel(primary, h.model), runner.WithModel(secondary, h.other), runner.WithAutoRecover(true),
		runner.WithHook("h", advise(retryNow)), runner.WithLog(tenant{h.log, name}), runner.WithClock(h.clock.now))
}

// keep runs r.Keep in the background; the function that it returns ends that.
func (h *harness) keep(r *runner.Runner, each func(*runner.Run)) (stop func() error) {
	ctx, cancel := context.WithCancel(h.Context())
	done := make(chan error, 1)
	go func() { done <- r.Keep(ctx, each) }()
	synctest.Wait()
	return func() error {
		cancel()
		return <-done
	}
}

// quota fails like a quota that is reset after d.
func (h *harness) quota(d time.Duration) step {
	return func(context.Context, func(llm.Delta) bool) error {
		f := failure.NewFailure(failure.KindQuota, failure.OriginModel, failure.PhaseBeforeFirstEvent, nil)
		f.ResetsAt = h.clock.now().Add(d)
		return f
	}
}

// park starts a run that waits for its quota.
func (h *harness) park(r *runner.Runner) string {
	h.Helper()
	run, err := r.Start(h.Context(), runner.Request{Prompt: "hi"})
	if err != nil {
		h.Fatal(err)
	}
	if _, err := run.Wait(context.Background()); !errors.Is(err, runner.ErrParked) {
		h.Fatalf("it is not parked: %v", err)
	}
	return run.ID()
}

func (h *harness) summary(id string) timeline.Summary {
	h.Helper()
	list, err := h.log.List(h.Context(), timeline.Query{Limit: 10_000})
	if err != nil {
		h.Fatal(err)
	}
	i := slices.IndexFunc(list, func(s timeline.Summary) bool { return s.Run == id })
	if i < 0 {
		h.Fatalf("run %s is not listed", id)
	}
	return list[i]
}

func (h *harness) wantStatus(id string, want recovery.Status, calls int) {
	h.Helper()
	synctest.Wait()
	if s := h.summary(id); s.Status != want {
		h.Errorf("run %s is %s, not %s", id, s.Status, want)
	}
	if n := len(h.model.calls()); n != calls {
		h.Errorf("%d calls, not %d", n, calls)
	}
}

func TestKeepResumesAtItsTimeAndNotBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, nil, answers("whole"))
		h.model.steps[0] = h.quota(2 * time.Hour)
		id := h.park(h.process("run"))
		stop := h.keep(h.process("serve"), nil)
		time.Sleep(2*time.Hour - time.Millisecond)
		h.wantStatus(id, recovery.StatusWaiting, 1)
		time.Sleep(time.Second)
		h.wantStatus(id, recovery.StatusCompleted, 2)
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

func TestKeepResumesAfterASleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, nil, answers("whole"))
		h.model.steps[0] = h.quota(2 * time.Hour)
		id := h.park(h.process("run"))
		stop := h.keep(h.process("serve"), nil)
		time.Sleep(time.Minute + time.Second/2)
		h.clock.jump(3 * time.Hour)
		h.wantStatus(id, recovery.StatusWaiting, 1)
		time.Sleep(time.Second)
		h.wantStatus(id, recovery.StatusCompleted, 2)
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

func TestTwoKeepersResumeOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, nil, answers("whole"))
		h.model.steps[0] = h.quota(2 * time.Hour)
		id := h.park(h.process("run"))
		var mu sync.Mutex
		resumed := 0
		each := func(*runner.Run) {
			mu.Lock()
			defer mu.Unlock()
			resumed++
		}
		stops := []func() error{h.keep(h.process("serve 1"), each), h.keep(h.process("serve 2"), each)}
		time.Sleep(3 * time.Hour)
		h.wantStatus(id, recovery.StatusCompleted, 2)
		if resumed != 1 {
			t.Errorf("resumed %d times", resumed)
		}
		for _, stop := range stops {
			if err := stop(); err != nil {
				t.Error(err)
			}
		}
	})
}

func TestAThousandDueAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const runs = 1000
		h := newHarness(t, answers("whole"))
		at := h.clock.now().Add(2 * time.Hour)
		h.model.steps[0] = func(ctx context.Context, hear func(llm.Delta) bool) error {
			if h.clock.now().Before(at) {
				return h.quota(at.Sub(h.clock.now()))(ctx, hear)
			}
			return answers("whole")(ctx, hear)
		}
		first := h.process("run")
		for range runs {
			h.park(first)
		}
		stop := h.keep(h.process("serve"), nil)
		time.Sleep(2*time.Hour - time.Millisecond)
		before := runs
		for range 40 {
			time.Sleep(time.Second)
			synctest.Wait()
			now := len(h.model.calls())
			if now-before > 32 {
				t.Errorf("%d calls in one second", now-before)
			}
			before = now
		}
		if before != 2*runs {
			t.Errorf("%d calls", before)
		}
		list, err := h.log.List(t.Context(), timeline.Query{Status: recovery.StatusCompleted, Limit: 2 * runs})
		if err != nil || len(list) != runs {
			t.Errorf("%d runs have completed, %v", len(list), err)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

func TestAParkedRunIsAnswered(t *testing.T) {
	for _, c := range []struct {
		name   string
		answer func(ctx context.Context, r *runner.Runner, id string) error
		status recovery.Status
		one    int // calls of either model
		two    int
	}{
		{"cancel", cancelRun, recovery.StatusCancelled, 1, 0},
		{"cancel_wait", accept(recovery.ButtonCancelWait), recovery.StatusCancelled, 1, 0},
		{"retry_now", accept(recovery.ButtonRetryNow), recovery.StatusCompleted, 2, 0},
		{"switch_model", accept(recovery.ButtonSwitchModel), recovery.StatusCompleted, 1, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHarness(t, nil, answers("whole"))
				h.model.steps[0] = h.quota(2 * time.Hour)
				id := h.park(h.process("run"))
				stop := h.keep(h.process("serve"), nil)
				time.Sleep(time.Minute)
				if err := c.answer(t.Context(), h.process("person"), id); err != nil {
					t.Fatal(err)
				}
				h.wantStatus(id, c.status, c.one)
				time.Sleep(3 * time.Hour) // and its time changes nothing
				h.wantStatus(id, c.status, c.one)
				if n := len(h.other.calls()); n != c.two {
					t.Errorf("%d calls of the other model, not %d", n, c.two)
				}
				if err := stop(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func cancelRun(ctx context.Context, r *runner.Runner, id string) error { return r.Cancel(ctx, id) }

// accept answers a wait by one of its buttons.
func accept(kind string) func(context.Context, *runner.Runner, string) error {
	return func(ctx context.Context, r *runner.Runner, id string) error {
		run, err := r.Recover(ctx, id, runner.Answer{Action: kind})
		if err != nil {
			return err
		}
		if _, err := run.Wait(context.Background()); err != nil && !errors.Is(err, runner.ErrCancelled) {
			return err
		}
		return nil
	}
}

// TestI52ACommandThatNobodyHeard: the owner of a run dies with a command in its inbox; the process
// that keeps the log acts on it, or says that it came too late.
func TestI52ACommandThatNobodyHeard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t)
		h.model.steps = []step{h.quota(time.Hour)}
		cancelled, tooLate := h.park(h.process("one")), h.park(h.process("one"))
		for id, body := range map[string]recovery.Body{cancelled: recovery.CancelRequested{}, tooLate: recovery.Accepted{Suggestion: "old"}} {
			if _, err := h.log.Send(t.Context(), id, timeline.Command{ID: "c", Body: body}); err != nil {
				t.Fatal(err)
			}
		}
		stop := h.keep(h.process("two"), nil)
		time.Sleep(3 * time.Second)
		h.wantStatus(cancelled, recovery.StatusCancelled, 2)
		h.wantStatus(tooLate, recovery.StatusWaiting, 2)
		events, err := h.log.Read(t.Context(), tooLate, 0, 0)
		if last := events[len(events)-1]; err != nil || last.Inbox != 1 || last.Text == "" {
			t.Errorf("the last event is %+v, %v", last, err)
		}
		seq := len(events)
		time.Sleep(10 * time.Second)
		if events, _ := h.log.Read(t.Context(), tooLate, 0, 0); len(events) != seq {
			t.Errorf("%d events more without a reason", len(events)-seq)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

// crash writes a run whose attempt is in the air, and whose owner died just now.
func (h *harness) crash(id string) {
	h.Helper()
	policy := recovery.DefaultPolicy()
	policy.AutoRecover, policy.Models, policy.Plugins = true, []string{primary}, []string{"h"}
	lease, err := h.log.Claim(h.Context(), id, "crashed", 15*time.Second)
	if err != nil {
		h.Fatal(err)
	}
	for i, b := range []recovery.Body{
		recovery.Started{Model: primary, Input: []llm.Message{llm.User("hi")}, Policy: policy},
		recovery.Claimed{Owner: "crashed", Epoch: 1},
		recovery.Began{Attempt: 1, Round: 1, Model: primary},
	} {
		e := recovery.Event{Run: id, Seq: uint64(i) + 1, Time: h.clock.now(), Body: b}
		if err := h.log.Append(h.Context(), lease, uint64(i), e); err != nil {
			h.Fatal(err)
		}
	}
}

func TestKeepResumesWhatACrashLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, answers("whole"))
		h.crash("r")
		stop := h.keep(h.process("serve"), nil)
		time.Sleep(14 * time.Second)
		h.wantStatus("r", recovery.StatusRunning, 0) // its owner may live
		time.Sleep(3 * time.Second)
		h.wantStatus("r", recovery.StatusCompleted, 1)
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

// crashAll leaves so many runs like that: r0, r1 and so on.
func (h *harness) crashAll(runs int) {
	h.Helper()
	for i := range runs {
		h.crash(fmt.Sprint("r", i))
	}
}

func TestKeepResumesAThousandThatACrashLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const runs = 1000
		h := newHarness(t, answers("whole"))
		h.crashAll(runs)
		time.Sleep(16 * time.Second)
		stop := h.keep(h.process("serve"), nil)
		time.Sleep(10 * time.Second)
		h.wantStatus("r0", recovery.StatusCompleted, runs)
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

func TestKeepEndsSuggestionsWhoseTimeIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, fails("", overload))
		r := runner.New(runner.WithModel(primary, h.model), runner.WithHook("h", advise(retryNow)),
			runner.WithLog(h.log), runner.WithClock(h.clock.now))
		_, err := r.Run(t.Context(), "hi")
		failed := wantError(t, err, failure.KindOverloaded)
		stop := h.keep(h.process("serve"), nil)
		time.Sleep(time.Hour)
		h.wantStatus(failed.Run, recovery.StatusFailed, 1)
		if s := h.summary(failed.Run); !s.SuggestionOpen {
			t.Errorf("its suggestion is closed: %+v", s)
		}
		h.clock.jump(23 * time.Hour)
		time.Sleep(2 * time.Second)
		h.wantStatus(failed.Run, recovery.StatusFailed, 1)
		if s := h.summary(failed.Run); s.SuggestionOpen || !s.Ended {
			t.Errorf("its suggestion is open: %+v", s)
		}
		if _, err := r.Recover(t.Context(), failed.Run, runner.Answer{Action: "retry"}); err == nil {
			t.Error("a suggestion was answered after its time")
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

// broken is a log that writes nothing of some runs, and counts who tries: one try repeats
// its claim for up to 2 s.
type broken struct {
	timeline.Log
	mu     sync.Mutex
	bad    map[string]bool
	at     map[string]time.Time
	claims int
}

func (l *broken) Claim(ctx context.Context, run, owner string, ttl time.Duration) (timeline.Lease, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.bad[run] {
		if time.Since(l.at[run]) > 2*time.Second {
			l.claims++
		}
		l.at[run] = time.Now()
		return timeline.Lease{}, fmt.Errorf("the disk is full")
	}
	return l.Log.Claim(ctx, run, owner, ttl)
}

func TestKeepPausesBeforeItTriesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, answers("whole"))
		at := h.clock.now().Add(time.Hour)
		h.model.steps[0] = func(ctx context.Context, hear func(llm.Delta) bool) error {
			if h.clock.now().Before(at) {
				return h.quota(at.Sub(h.clock.now()))(ctx, hear)
			}
			return answers("whole")(ctx, hear)
		}
		log := &broken{Log: h.log, bad: map[string]bool{}, at: map[string]time.Time{}}
		first := h.process("run")
		for range 40 { // more than one look takes
			log.bad[h.park(first)] = true
		}
		good := h.park(first)
		h.log = log
		stop := h.keep(h.process("serve"), nil)
		time.Sleep(time.Hour + 10*time.Second)
		h.wantStatus(good, recovery.StatusCompleted, 42)
		time.Sleep(time.Hour)
		log.mu.Lock()
		if each := log.claims / 40; each < 12 || each > 24 {
			t.Errorf("each was tried %d times in an hour", each)
		}
		clear(log.bad)
		log.mu.Unlock()
		time.Sleep(6 * time.Minute)
		h.wantStatus(good, recovery.StatusCompleted, 82)
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

func TestKeepLetsGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, nil, stalls("Hello wor"), answers("whole"))
		h.model.steps[0] = h.quota(2 * time.Hour)
		id := h.park(h.process("run"))
		ended := make(chan error, 1)
		stop := h.keep(h.process("serve 1"), func(run *runner.Run) {
			_, err := run.Wait(t.Context())
			ended <- err
		})
		time.Sleep(2*time.Hour + 2*time.Second)
		h.wantStatus(id, recovery.StatusRunning, 2)
		began := time.Now()
		if err := stop(); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("it took %s", took)
		}
		if err := <-ended; !errors.Is(err, runner.ErrLetGo) {
			t.Errorf("the run ended with %v", err)
		}
		h.wantStatus(id, recovery.StatusRunning, 2)

		stop = h.keep(h.process("serve 2"), nil)
		time.Sleep(2 * time.Second)
		h.wantStatus(id, recovery.StatusCompleted, 3)
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

func TestKeepEndsWithItsLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, answers("whole"))
		stop := h.keep(h.process("serve"), nil)
		if err := h.log.Close(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		if err := stop(); !errors.Is(err, timeline.ErrClosed) {
			t.Errorf("keep: %v", err)
		}
	})
}
