package mcp

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
)

// helper is this test binary as a server.
func helper(t *testing.T, play string) Spec {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Spec{Name: "helper", Command: []string{self}, Env: []string{playEnv + "=" + play}}
}

// shortTimes has short timeouts, for tests that really wait.
var shortTimes = func() pace {
	p := usualPace
	p.ping, p.stop = 200*time.Millisecond, 400*time.Millisecond
	return p
}()

func opened(t *testing.T, spec Spec, pace pace, logger *slog.Logger) *Set {
	t.Helper()
	if err := spec.Check(); err != nil {
		t.Fatal(err)
	}
	set, err := open(t.Context(), []*server{newServer(spec, pace, logger)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(set.Close)
	return set
}

func TestProcessGetsLittleOfTheEnvironment(t *testing.T) {
	t.Setenv("MULLIGAN_TEST_SECRET", "s3cret")
	t.Setenv("MULLIGAN_TEST_WANTED", "wanted")
	spec := helper(t, "well")
	spec.Env = append(spec.Env, "MULLIGAN_TEST_WANTED", "OWN=a=b")
	text, err := run(t.Context(), t, opened(t, spec, shortTimes, quiet), "helper__environment")
	if err != nil || strings.Contains(text, "s3cret") || !strings.Contains(text, "MULLIGAN_TEST_WANTED=wanted\n") || !strings.Contains(text, "OWN=a=b") || !strings.Contains(text, "PATH=") {
		t.Errorf("%v, its environment:\n%s", err, text)
	}
}

// TestProcessKilledInMidCall kills by pid while a call is in the air, then asks again.
func TestProcessKilledInMidCall(t *testing.T) {
	for tool, unknown := range map[string]bool{"helper__work": true, "helper__look": false} {
		t.Run(tool, func(t *testing.T) {
			t.Parallel()
			set := opened(t, helper(t, "well"), shortTimes, quiet)
			before := state(set).PID
			time.AfterFunc(100*time.Millisecond, func() { _ = syscall.Kill(before, syscall.SIGKILL) })
			_, err := run(t.Context(), t, set, tool)
			if err == nil || errors.Is(err, runner.ErrOutcomeUnknown) != unknown || !strings.Contains(err.Error(), "signal: killed") {
				t.Errorf("the call ended with %v", err)
			}
			text, err := run(t.Context(), t, set, "helper__pid")
			after := state(set)
			if err != nil || text != strconv.Itoa(after.PID) || after.PID == before || after.Status != StatusRunning || after.Restarts != 1 {
				t.Errorf("after the restart: %q, %v, %+v", text, err, after)
			}
		})
	}
}

func TestProcessThatHangsIsReplaced(t *testing.T) {
	t.Parallel()
	set := opened(t, helper(t, "well"), shortTimes, quiet)
	before := state(set).PID
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := run(ctx, t, set, "helper__stop")
	if !errors.Is(err, runner.ErrOutcomeUnknown) {
		t.Errorf("the call ended with %v", err)
	}
	eventually(t, "the server that hangs is replaced", func() bool {
		s := state(set)
		return s.Status == StatusRunning && s.PID != before
	})
	if s := state(set); !strings.Contains(s.LastError, "it hangs") || alive(before) {
		t.Errorf("%+v, the old one is alive: %v", s, alive(before))
	}
}

func TestProcessThatDoesNotStart(t *testing.T) {
	t.Parallel()
	set := opened(t, helper(t, "dead"), shortTimes, quiet)
	if s := state(set); !strings.Contains(s.LastError, "exit status 3") || !strings.Contains(s.LastError, "it said: cannot read [31m my configuration") || len(set.Tools()) != 0 {
		t.Errorf("%+v", s)
	}
	none := opened(t, Spec{Name: "none", Command: []string{"no-such-program-anywhere"}}, shortTimes, quiet)
	if s := state(none); !strings.Contains(s.LastError, "no-such-program-anywhere") {
		t.Errorf("%+v", s)
	}
}

func TestProcessThatNeverAnswers(t *testing.T) {
	t.Parallel()
	p := shortTimes
	p.start = 300 * time.Millisecond
	set := opened(t, helper(t, "mute"), p, quiet)
	if s := state(set); !strings.Contains(s.LastError, "did not answer in time (300ms)") {
		t.Errorf("%+v", s)
	}
}

// TestNoiseOnStandardOutput: a server writes greetings, logs and a flood of text where only
// messages belong.
func TestNoiseOnStandardOutput(t *testing.T) {
	t.Parallel()
	var logged lines
	set := opened(t, helper(t, "noisy"), shortTimes, slog.New(slog.NewTextHandler(&logged, nil)))
	if text, err := run(t.Context(), t, set, "helper__flood"); text != "done" || err != nil {
		t.Errorf("got %q, %v", text, err)
	}
	if s := state(set); s.Restarts != 0 {
		t.Errorf("%+v", s)
	}
	if text := logged.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, "Welcome to the server!") {
		t.Errorf("the log says:\n%s", text)
	}
}

type lines struct {
	mu  sync.Mutex
	all strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.String()
}

func TestMessageWithoutEnd(t *testing.T) {
	t.Parallel()
	set := opened(t, helper(t, "endless"), shortTimes, quiet)
	if s := state(set); s.LastError == "" || s.Status != StatusRestarting {
		t.Errorf("%+v", s)
	}
}

func TestHugeResults(t *testing.T) {
	t.Parallel()
	set := opened(t, helper(t, "well"), shortTimes, quiet)
	if text, err := run(t.Context(), t, set, "helper__huge"); len(text) > runner.MaxToolResult || len(text) < runner.MaxToolResult-10 || err != nil {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	if _, err := run(t.Context(), t, set, "helper__too_huge"); err == nil {
		t.Error("a message of more than 16 MiB was taken")
	}
	if text, err := run(t.Context(), t, set, "helper__pid"); text == "" || err != nil {
		t.Errorf("afterwards: %q, %v", text, err)
	}
}

// TestCloseEndsEverything closes a server that ignores all but SIGKILL and has a child.
func TestCloseEndsEverything(t *testing.T) {
	t.Parallel()
	for _, play := range []string{"well", "stubborn"} {
		set := opened(t, helper(t, play), shortTimes, quiet)
		pid := state(set).PID
		text, err := run(t.Context(), t, set, "helper__child")
		child, atoiErr := strconv.Atoi(text)
		if err != nil || atoiErr != nil {
			t.Fatal(text, err)
		}
		set.Close()
		eventually(t, play+" and its child end", func() bool { return !alive(pid) && !alive(child) })
		if s := state(set); s.Status != StatusClosed || s.PID != 0 {
			t.Errorf("%+v", s)
		}
		if _, err := run(t.Context(), t, set, "helper__pid"); err == nil || !strings.Contains(err.Error(), "closed") {
			t.Errorf("a call of a closed set gave %v", err)
		}
	}
}

// TestProgressReachesTheRun is a whole run: the model asks for a tool that tells how far
// it has come.
func TestProgressReachesTheRun(t *testing.T) {
	t.Parallel()
	set := opened(t, helper(t, "well"), shortTimes, quiet)
	model := &asks{tool: "helper__progress"}
	r := runner.New(runner.WithModel("a/one", model), runner.WithTools(set.Tools()...))
	going, err := r.Start(t.Context(), runner.Request{Prompt: "count"})
	if err != nil {
		t.Fatal(err)
	}
	var notes []string
	for item, err := range going.Events() {
		if err != nil {
			t.Fatal(err)
		}
		if item.Event == nil {
			continue
		}
		if note, ok := item.Event.Body.(recovery.Noted); ok && note.Topic == recovery.TopicToolSays {
			notes = append(notes, note.Detail)
		}
	}
	result, err := going.Wait(t.Context())
	if err != nil || result.Text != "counted" {
		t.Errorf("got %+v, %v", result, err)
	}
	if len(notes) == 0 || notes[0] != "counting (1 of 3)" {
		t.Errorf("notes: %q", notes)
	}
}

// asks is a model that calls a tool once and then says what it got.
type asks struct{ tool, args string }

func (a *asks) Stream(_ context.Context, req llm.Request) iter.Seq2[llm.Delta, error] {
	deltas := []llm.Delta{
		{Kind: llm.DeltaStart},
		{Kind: llm.DeltaCall, CallID: "c1", Name: a.tool},
		{Kind: llm.DeltaArgs, Text: "{" + a.args + "}"},
		{Kind: llm.DeltaStop, Stop: llm.StopToolUse},
	}
	if last := req.Messages[len(req.Messages)-1]; last.Role == llm.RoleTool {
		deltas = []llm.Delta{{Kind: llm.DeltaStart}, {Kind: llm.DeltaText, Text: last.Parts[0].Result.Text}, {Kind: llm.DeltaStop, Stop: llm.StopEnd}}
	}
	return func(yield func(llm.Delta, error) bool) {
		for _, d := range deltas {
			if !yield(d, nil) {
				return
			}
		}
	}
}
