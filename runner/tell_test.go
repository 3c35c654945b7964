package runner_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/health"
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

// forgets is a Health that knows nothing of failures: a model that failed one run does not cool down
// for another.
type forgets struct{ *health.Health }

func (forgets) Failed(string, failure.Failure, time.Time) {}

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
			runner.WithAutoRecover(auto), runner.WithHook("h", slow),
			runner.WithHealth(forgets{health.New()}))
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
	began := time.Now()
	again, err := other.Recover(t.Context(), run.ID(), runner.Answer{Action: recovery.ButtonRetryNow})
	fate := fateOf(err, time.Since(began))
	switch {
	case fate == fateUnheard && err != nil && !errors.Is(err, runner.ErrSent):
		return // this computer is too slow to write it down in time, and nobody was told otherwise
	case fate == fateRefused:
		t.Errorf("the answer was refused: %v", err)
		return
	case fate == fateTaken && err == nil:
		if result, err := again.Wait(t.Context()); err != nil || result.Text != "ok" {
			t.Errorf("the run came to %q, %v", result.Text, err)
		}
		return
	}
	eventually(t, owner, run.ID(), "completed", func(s *recovery.Run) bool {
		if fate == fateUnheard {
			_, _ = owner.Resume(t.Context(), s.ID)
		}
		return s.Status == recovery.StatusCompleted
	})
}

// command is something that a person does to a run.
type command struct {
	name    string
	do      func(ctx context.Context, r *runner.Runner, id string) error
	ends    bool // the run is over once it was taken
	answers bool // it answers the run's suggestion
}

func recovers(action string) func(context.Context, *runner.Runner, string) error {
	return func(ctx context.Context, r *runner.Runner, id string) error {
		_, err := r.Recover(ctx, id, runner.Answer{Action: action})
		return err
	}
}

var commands = []command{
	{"cancel", cancelRun, true, false},
	{"retry", recovers(recovery.ButtonRetry), false, true},
	{"switch", recovers(recovery.ButtonSwitchModel), false, true},
	{"stop", recovers(recovery.ButtonStop), true, true},
	{"resume", func(ctx context.Context, r *runner.Runner, id string) error {
		_, err := r.Resume(ctx, id)
		return err
	}, false, false},
	{"next message", func(ctx context.Context, r *runner.Runner, id string) error {
		_, err := r.Start(ctx, runner.Request{Prompt: "next " + id, Session: "s-" + id, ID: "n-" + id})
		return err
	}, true, false},
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
		if !written && !tooSlow(err) || time.Since(began) > time.Minute {
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
	fates := make([]fate, len(pair))
	var doing sync.WaitGroup
	for i, c := range pair {
		doing.Go(func() {
			time.Sleep(rand.N(60 * time.Millisecond))
			began := time.Now()
			fates[i] = fateOf(c.do(t.Context(), both[rand.IntN(2)], id), time.Since(began))
		})
	}
	doing.Wait()
	tale := fmt.Sprintf("run %s, %s beside %s: %v", id, pair[0].name, pair[1].name, fates)
	state := eventually(t, both[0], id, "at rest: "+tale, func(s *recovery.Run) bool {
		return atRest(t, both[0], log, s, slices.Contains(fates, fateUnheard) || gaveUp(run))
	})
	if state == nil {
		return
	}
	least, most := 0, 0
	for i, c := range pair {
		if fates[i] == fateTaken && c.ends && state.End == nil {
			t.Errorf("%s: it is %s, and not over", tale, state.Status)
		}
		if c.answers && fates[i] != fateRefused {
			most++
		}
		if c.answers && fates[i] == fateTaken {
			least++
		}
	}
	events, err := log.Read(t.Context(), id, 0, 0)
	if n := len(bodies[recovery.Accepted](events)); err != nil || n < least || n > most {
		t.Errorf("%s: %d answers are in the log of a run that is %s, %v", tale, n, state.Status, err)
	}
}

// fate is what became of a command, as far as its sender was told.
type fate string

const (
	fateRefused fate = "refused"
	fateTaken   fate = "taken"
	fateUnheard fate = "unheard" // nobody heard or wrote it in time: it is acted on later, too late, or was never sent
)

// tooSlow reports whether err says that this computer is too slow.
func tooSlow(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, timeline.ErrBusy)
}

// gaveUp reports whether a run could not be driven because this computer is too slow.
func gaveUp(run *runner.Run) bool {
	select {
	case <-run.Done():
		_, err := run.Wait(context.Background())
		return tooSlow(err)
	default:
		return false
	}
}

// fateOf tells it from a command's error and from how long the command took.
func fateOf(err error, took time.Duration) fate {
	switch {
	case tooSlow(err):
		return fateUnheard
	case err != nil && !errors.Is(err, runner.ErrSent):
		return fateRefused
	case took >= runner.HearTime:
		return fateUnheard
	}
	return fateTaken
}

// atRest reports whether a run is over, or has settled with no command in its inbox. With resume it
// has the run driven until then, as whoever keeps a log's runs does.
func atRest(t *testing.T, r *runner.Runner, log *timeline.Journal, s *recovery.Run, resume bool) bool {
	t.Helper()
	if s.End != nil {
		return true
	}
	waiting, err := log.Inbox(t.Context(), s.ID, s.Inbox, 1)
	if err != nil {
		t.Error(err)
	}
	if s.Settled() && len(waiting) == 0 {
		return true
	}
	if resume {
		_, _ = r.Resume(t.Context(), s.ID)
	}
	return false
}
