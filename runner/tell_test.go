package runner_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/timeline"
	"github.com/mulligan-run/mulligan/timeline/sqlite"
)

// firstFails is a model whose first call for a prompt fails, and whose others answer.
type firstFails struct {
	mu     sync.Mutex
	prompt map[string]bool
}

func (m *firstFails) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Delta, error] {
	m.mu.Lock()
	defer m.mu.Unlock()
	prompt := req.Messages[len(req.Messages)-1].Text()
	if m.prompt[prompt] {
		return script(answers("ok")).Stream(ctx, req)
	}
	m.prompt[prompt] = true
	return script(fails("", overload)).Stream(ctx, req)
}

// twoProcesses are two Runners over one store in a folder, each with a Store of its own as
// two processes have.
func twoProcesses(t *testing.T, auto bool, vote recovery.Vote) (both [2]*runner.Runner, log *timeline.Journal) {
	t.Helper()
	dir, model := t.TempDir(), &firstFails{prompt: map[string]bool{}}
	for i := range both {
		var err error
		if log, err = sqlite.Open(t.Context(), dir); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = log.Close() })
		slow := hooks.Func(func(context.Context, hooks.RunError) (recovery.Vote, error) {
			time.Sleep(rand.N(10 * time.Millisecond))
			return vote, nil
		})
		both[i] = runner.New(runner.WithLog(log), runner.WithModel(primary, model), runner.WithModel(secondary, model),
			runner.WithAutoRecover(auto), runner.WithHook("h", slow))
		t.Cleanup(func() { _ = both[i].Drain(context.Background()) })
	}
	return both, log
}

// eventually polls for the state that a run comes to.
func eventually(t *testing.T, r *runner.Runner, id, what string, is func(*recovery.Run) bool) *recovery.Run {
	t.Helper()
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		state, err := r.Inspect(context.Background(), id)
		if err != nil {
			t.Error(err)
			return nil
		}
		if is(state) {
			return state
		}
		if time.Since(began) > time.Minute {
			t.Errorf("run %s is %s after a minute, and not %s", id, state.Status, what)
			return state
		}
	}
}

// TestI52AnAnswerAroundParking: an answer that was taken is acted on, at whatever moment of
// the run's being parked it came, in the process that drove the run and in another.
func TestI52AnAnswerAroundParking(t *testing.T) {
	t.Parallel()
	const callers = 20
	answers := 1000 / callers
	if testing.Short() {
		answers = 100 / callers
	}
	both, _ := twoProcesses(t, true, quotaLater)
	var calling sync.WaitGroup
	for c := range callers {
		calling.Go(func() {
			for n := range answers {
				answerWhileParking(t, both[0], both[(c+n)%2], fmt.Sprint(c, " ", n))
			}
		})
	}
	calling.Wait()
}

func answerWhileParking(t *testing.T, owner, other *runner.Runner, prompt string) {
	t.Helper()
	run := startPatiently(t, owner, runner.Request{Prompt: prompt})
	if run == nil {
		return
	}
	for item := range run.Events() {
		if item.Event == nil {
			continue
		}
		if _, waits := item.Event.Body.(recovery.Waiting); waits {
			break
		}
	}
	time.Sleep(rand.N(60 * time.Millisecond))
	again, err := other.Recover(t.Context(), run.ID(), runner.Answer{Action: recovery.ButtonRetryNow})
	if errors.Is(err, context.DeadlineExceeded) {
		return // this computer is too slow to write it down in time, and nobody was told otherwise
	}
	if err != nil && !errors.Is(err, runner.ErrSent) {
		t.Errorf("the answer was refused: %v", err)
		return
	}
	if err == nil {
		if result, err := again.Wait(t.Context()); err != nil || result.Text != "ok" {
			t.Errorf("the run came to %q, %v", result.Text, err)
		}
		return
	}
	eventually(t, owner, run.ID(), "completed", func(s *recovery.Run) bool { return s.Status == recovery.StatusCompleted })
}

// command is something that a person does to a run.
type command struct {
	name string
	do   func(ctx context.Context, r *runner.Runner, id string) error
	// ends: the run is over once it was taken.
	ends bool
}

func recovers(action string) func(context.Context, *runner.Runner, string) error {
	return func(ctx context.Context, r *runner.Runner, id string) error {
		_, err := r.Recover(ctx, id, runner.Answer{Action: action})
		return err
	}
}

var commands = []command{
	{"cancel", cancelRun, true},
	{"retry", recovers(recovery.ButtonRetry), false},
	{"switch", recovers(recovery.ButtonSwitchModel), false},
	{"stop", recovers(recovery.ButtonStop), true},
	{"resume", func(ctx context.Context, r *runner.Runner, id string) error {
		_, err := r.Resume(ctx, id)
		return err
	}, false},
	{"next message", func(ctx context.Context, r *runner.Runner, id string) error {
		_, err := r.Start(ctx, runner.Request{Prompt: "next " + id, Session: "s-" + id, ID: "n-" + id})
		return err
	}, true},
}

// TestI52EveryPairOfCommands: of any two commands at any moment of a run, from its own
// process or another, each is acted on if it was taken.
func TestI52EveryPairOfCommands(t *testing.T) {
	t.Parallel()
	times := 12
	if testing.Short() {
		times = 1
	}
	both, log := twoProcesses(t, false, retryNow)
	var calling sync.WaitGroup
	for i := range commands {
		for j := range commands {
			calling.Go(func() {
				for n := range times {
					tryPair(t, both, log, fmt.Sprintf("p%d-%d-%d", i, j, n), commands[i], commands[j])
				}
			})
		}
	}
	calling.Wait()
}

// startPatiently starts a run on a computer that may be too slow to write it down in time. What
// was not heard of in time may have been written all the same, so it is another run each time.
func startPatiently(t *testing.T, r *runner.Runner, req runner.Request) *runner.Run {
	t.Helper()
	for began := time.Now(); ; {
		run, err := r.Start(t.Context(), req)
		if err == nil {
			return run
		}
		_, written := errors.AsType[*runner.ExistsError](err)
		if !written && !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > time.Minute {
			t.Error(err)
			return nil
		}
		if req.ID != "" {
			req.ID, req.Session = req.ID+"-", req.Session+"-"
		}
	}
}

func tryPair(t *testing.T, both [2]*runner.Runner, log *timeline.Journal, id string, pair ...command) {
	t.Helper()
	run := startPatiently(t, both[0], runner.Request{Prompt: id, ID: id, Session: "s-" + id})
	if run == nil {
		return
	}
	id = run.ID()
	taken, unheard := make([]bool, len(pair)), make([]bool, len(pair))
	var doing sync.WaitGroup
	for i, c := range pair {
		doing.Go(func() {
			time.Sleep(rand.N(60 * time.Millisecond))
			began := time.Now()
			err := c.do(t.Context(), both[rand.IntN(2)], run.ID())
			taken[i] = err == nil || errors.Is(err, runner.ErrSent)
			unheard[i] = taken[i] && time.Since(began) >= runner.HearTime
		})
	}
	doing.Wait()
	tale := fmt.Sprintf("run %s, %s beside %s, taken %v", id, pair[0].name, pair[1].name, taken)
	for i, c := range pair {
		if taken[i] && c.ends {
			eventually(t, both[0], id, "over: "+tale, func(s *recovery.Run) bool {
				if s.End == nil && unheard[i] { // it is in the inbox, where whoever drives the run next finds it
					_, _ = both[0].Resume(t.Context(), id)
				}
				return s.End != nil
			})
		}
	}
	state := eventually(t, both[0], id, "settled: "+tale, (*recovery.Run).Settled)
	answered, perhaps := 0, 0
	for i, c := range pair {
		if taken[i] && c.name != "cancel" && c.name != "resume" && c.name != "next message" {
			answered++
			if unheard[i] {
				perhaps++
			}
		}
	}
	accepted := func() int {
		events, err := log.Read(t.Context(), id, 0, 0)
		if err != nil {
			t.Error(err)
		}
		return len(bodies[recovery.Accepted](events))
	}
	if perhaps > 0 { // where this computer is slow, an answer is sent, and acted on later or too late
		state = eventually(t, both[0], id, "over, or answered: "+tale, func(s *recovery.Run) bool { return s.End != nil || accepted() == answered })
	}
	if n := accepted(); n > answered || n < answered && (perhaps == 0 || state.End == nil) {
		t.Errorf("%s: %d answers are in the log of a run that is %s", tale, n, state.Status)
	}
}
