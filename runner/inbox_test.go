package runner_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/timeline"
)

// hookedLog is a log that calls onRelease before its first Release, and onSend before its first
// Send.
type hookedLog struct {
	*timeline.Journal
	release, send sync.Once
	onRelease     func()
	onSend        func()
}

func (l *hookedLog) Release(ctx context.Context, lease timeline.Lease) error {
	if l.onRelease != nil {
		l.release.Do(l.onRelease)
	}
	return l.Journal.Release(ctx, lease)
}

func (l *hookedLog) Send(ctx context.Context, run string, c timeline.Command) (uint64, error) {
	if l.onSend != nil {
		l.send.Do(l.onSend)
	}
	return l.Journal.Send(ctx, run, c)
}

// quotaLater is a wait that parks the run.
var quotaLater = recovery.Vote{Action: recovery.ActionRetry, Delay: failure.InMillis(time.Hour)}

// TestAnAnswerWhileTheRunIsParked: it comes after the owner has looked into the inbox for
// the last time and before it lets go of the run.
func TestAnAnswerWhileTheRunIsParked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &hookedLog{Journal: timeline.NewMemory()}
		r := runner.New(runner.WithModel(primary, script(fails("", overload), answers("ok"))), runner.WithLog(log),
			runner.WithAutoRecover(true), runner.WithHook("h", advise(quotaLater)))
		var id string
		known := make(chan struct{})
		log.onRelease = func() {
			<-known
			state, err := r.Inspect(context.Background(), id)
			if err != nil || state.Wait == nil {
				t.Errorf("the run does not wait: %+v, %v", state, err)
				return
			}
			accepted := recovery.Accepted{Suggestion: state.Wait.ID, Action: "a1"}
			if _, err := log.Journal.Send(context.Background(), id, timeline.Command{ID: "x", Body: accepted}); err != nil {
				t.Error(err)
			}
		}
		run, err := r.Start(t.Context(), runner.Request{Prompt: "hi"})
		if err != nil {
			t.Fatal(err)
		}
		id = run.ID()
		close(known)
		if result, err := run.Wait(t.Context()); err != nil || result.Text != "ok" {
			t.Errorf("got %+v, %v", result, err)
		}
	})
}

// slowLeaver is a log whose second Release takes longer than anybody waits for an owner.
type slowLeaver struct {
	*timeline.Journal
	releases atomic.Int32
}

func (l *slowLeaver) Release(ctx context.Context, lease timeline.Lease) error {
	err := l.Journal.Release(ctx, lease)
	if l.releases.Add(1) == 2 {
		time.Sleep(2 * runner.HearTime)
	}
	return err
}

// TestI52AnAnswerToAnOwnerThatLeaves: it comes after the owner has looked into the inbox for the last
// time, and the owner takes long to leave.
func TestI52AnAnswerToAnOwnerThatLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := runner.New(runner.WithModel(primary, script(fails("", overload), answers("ok"))), runner.WithLog(&slowLeaver{Journal: timeline.NewMemory()}),
			runner.WithAutoRecover(true), runner.WithHook("h", advise(quotaLater)))
		run, err := r.Start(t.Context(), runner.Request{Prompt: "hi"})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		again, err := r.Recover(t.Context(), run.ID(), runner.Answer{Action: recovery.ButtonRetryNow})
		if err != nil {
			t.Fatal(err)
		}
		if result, err := again.Wait(t.Context()); err != nil || result.Text != "ok" {
			t.Errorf("got %+v, %v", result, err)
		}
	})
}

// TestAnAnswerToAnOwnerThatIsGone: the owner lets go of the run between the sender's look
// at it and its sending.
func TestAnAnswerToAnOwnerThatIsGone(t *testing.T) {
	for _, cancel := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			log := &hookedLog{Journal: timeline.NewMemory()}
			options := []runner.Option{
				runner.WithModel(primary, script(fails("", overload), answers("ok"))), runner.WithLog(log),
				runner.WithAutoRecover(true), runner.WithHook("h", advise(recovery.Vote{Action: recovery.ActionRetry, Delay: 30_000})),
			}
			owner, other := runner.New(append(options, runner.WithLog(renamed{log, "owner"}))...), runner.New(options...)
			ctx, letGo := context.WithCancelCause(t.Context())
			run, err := owner.Start(ctx, runner.Request{Prompt: "hi"})
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
			log.onSend = func() {
				letGo(runner.ErrLetGo)
				_, _ = run.Wait(t.Context())
			}
			if cancel {
				if err := other.Cancel(t.Context(), run.ID()); err != nil {
					t.Fatal(err)
				}
				if state, err := other.Inspect(t.Context(), run.ID()); err != nil || state.Status != recovery.StatusCancelled {
					t.Errorf("the run is %s, %v", state.Status, err)
				}
				return
			}
			again, err := other.Recover(t.Context(), run.ID(), runner.Answer{Action: recovery.ButtonRetryNow})
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			if result, err := again.Wait(t.Context()); err != nil || result.Text != "ok" || time.Since(began) > 10*time.Second {
				t.Errorf("got %+v, %v after %s", result, err, time.Since(began))
			}
		})
	}
}

// renamed is a log whose owner has another name.
type renamed struct {
	timeline.Log
	owner string
}

func (l renamed) Claim(ctx context.Context, run, _ string, ttl time.Duration) (timeline.Lease, error) {
	return l.Log.Claim(ctx, run, l.owner, ttl)
}

func (l renamed) Begin(
	ctx context.Context, run, _ string, ttl time.Duration, first func(timeline.Lease) []recovery.Event,
) (timeline.Lease, error) {
	return l.Log.Begin(ctx, run, l.owner, ttl, first)
}
