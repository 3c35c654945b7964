package hooks

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/mulligan-run/mulligan/recovery"
)

func dispatch(t *testing.T, hooks ...Named) (map[string]recovery.Vote, time.Duration) {
	t.Helper()
	votes := map[string]recovery.Vote{}
	began := time.Now()
	Dispatch(t.Context(), hooks, RunError{Run: "r1"}, Deadlines{}, func(v recovery.Vote) { votes[v.Plugin] = v })
	return votes, time.Since(began)
}

func TestDispatchAsksSideBySide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := func(after time.Duration) Hook {
			return Func(func(ctx context.Context, e RunError) (recovery.Vote, error) {
				time.Sleep(after)
				return recovery.Vote{Action: recovery.ActionRetry, Plugin: "another", Reason: strings.Repeat("ä", 400)}, nil
			})
		}
		votes, took := dispatch(t, Named{Name: "a", Hook: slow(time.Second)}, Named{Name: "b", Hook: slow(1900 * time.Millisecond)})
		if took != 1900*time.Millisecond {
			t.Errorf("took %v", took)
		}
		a := votes["a"]
		if a.Action != recovery.ActionRetry || a.Latency != 1000 || len(a.Reason) > maxReason || !utf8.ValidString(a.Reason) {
			t.Errorf("vote: %+v", a)
		}
	})
}

// started is a hook that takes its time to start.
type started struct {
	Func
	takes time.Duration
	err   error
}

func (s started) Start(ctx context.Context) error {
	select {
	case <-time.After(s.takes):
		return s.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func TestAStartHasItsOwnTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answers := Func(func(context.Context, RunError) (recovery.Vote, error) {
			time.Sleep(1900 * time.Millisecond)
			return recovery.Vote{Action: recovery.ActionRetry}, nil
		})
		votes, took := dispatch(t,
			Named{Name: "slow", Hook: started{answers, 9 * time.Second, nil}},
			Named{Name: "too slow", Hook: started{answers, 11 * time.Second, nil}, Shadow: true},
			Named{Name: "broken", Hook: started{answers, time.Second, errors.New("no handshake")}},
		)
		if v := votes["slow"]; v.Action != recovery.ActionRetry || v.Latency != 1900 || took != 10900*time.Millisecond {
			t.Errorf("after %v: %+v", took, v)
		}
		if v := votes["too slow"]; v.Error != "not started within 10s" || !v.Shadow {
			t.Errorf("%+v", v)
		}
		if v := votes["broken"]; v.Error != "no handshake" || v.Action != recovery.ActionNone {
			t.Errorf("%+v", v)
		}
	})
}

func TestDispatchSurvivesItsHooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		votes, took := dispatch(t,
			Named{Name: "fails", Hook: Func(func(context.Context, RunError) (recovery.Vote, error) {
				return recovery.Vote{Action: recovery.ActionFail, PID: 7}, errors.New("no\xff" + strings.Repeat("x", 9000))
			})},
			Named{Name: "panics", Hook: Func(func(context.Context, RunError) (recovery.Vote, error) { panic("boom") })},
			Named{Name: "hangs", Hook: Func(func(context.Context, RunError) (recovery.Vote, error) {
				<-release // ignores its context
				return recovery.Vote{Action: recovery.ActionRetry}, nil
			})},
			Named{Name: "well", Hook: Func(func(context.Context, RunError) (recovery.Vote, error) {
				return recovery.Vote{Action: recovery.ActionRetry}, nil
			})},
		)
		close(release)
		if took != 2*time.Second {
			t.Errorf("took %v", took)
		}
		for name, want := range map[string]string{"fails": "no\uFFFD", "panics": "panic: boom", "hangs": "no answer within 2s"} {
			v := votes[name]
			if !strings.HasPrefix(v.Error, want) || v.Action != recovery.ActionNone || len(v.Error) > MaxError || !utf8.ValidString(v.Error) {
				t.Errorf("%s: %+v", name, v)
			}
		}
		if votes["fails"].PID != 7 {
			t.Error("an error hides who answered")
		}
		if votes["well"].Action != recovery.ActionRetry || votes["well"].Error != "" {
			t.Errorf("well: %+v", votes["well"])
		}
	})
}

func TestDispatchSaysWhoIsAShadow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lies := func(shadow bool) Hook {
			return Func(func(context.Context, RunError) (recovery.Vote, error) {
				return recovery.Vote{Action: recovery.ActionRetry, Shadow: shadow}, nil
			})
		}
		votes, _ := dispatch(t, Named{Name: "a", Hook: lies(true)}, Named{Name: "b", Hook: lies(false), Shadow: true},
			Named{Name: "c", Hook: Func(func(context.Context, RunError) (recovery.Vote, error) { panic("boom") }), Shadow: true})
		if votes["a"].Shadow || !votes["b"].Shadow || !votes["c"].Shadow {
			t.Errorf("votes: %+v", votes)
		}
	})
}

func TestDispatchEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		hang := Func(func(ctx context.Context, e RunError) (recovery.Vote, error) {
			<-ctx.Done()
			return recovery.Vote{}, ctx.Err()
		})
		began, n := time.Now(), 0
		Dispatch(ctx, []Named{{Name: "a", Hook: hang}, {Name: "b", Hook: hang}}, RunError{}, Deadlines{}, func(recovery.Vote) { n++ })
		if n != 2 || time.Since(began) != time.Second {
			t.Errorf("%d votes after %v", n, time.Since(began))
		}
	})
}
