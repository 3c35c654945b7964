package runner_test

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/timeline"
	"github.com/mulligan-run/mulligan/timeline/sqlite"
)

const (
	ownerFolder = "RUNNER_TEST_OWNER_FOLDER" // makes the test binary an owner process on that folder
	shortLease  = 2 * time.Second
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(ownerFolder); dir != "" {
		own(dir)
	}
	os.Exit(m.Run())
}

// own drives a run that never ends, and keeps a journal of the effects that it begins. When it has
// to stop driving the run it says why.
func own(dir string) {
	ctx := context.Background()
	log, err := sqlite.Open(ctx, dir)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	r := busyRunner(log, filepath.Join(dir, "journal"))
	run, err := r.Start(ctx, runner.Request{Prompt: "go on"})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(run.ID())
	_, err = run.Wait(context.Background())
	fmt.Println(errors.Is(err, timeline.ErrStale), err)
	os.Exit(0)
}

// busyRunner asks a model and runs a tool, again and again, and journals both.
func busyRunner(log timeline.Log, journal string) *runner.Runner {
	tool := runner.Tool{Name: "fetch", Safety: recovery.SafetyReadOnly, Run: func(context.Context, runner.ToolCall) (string, error) {
		begun(journal, "tool")
		time.Sleep(20 * time.Millisecond)
		return "fetched", nil
	}}
	return runner.New(runner.WithLog(log), runner.WithModel(primary, busy{journal}), runner.WithTools(tool), runner.WithLease(shortLease),
		runner.WithAutoRecover(true), runner.WithHook("h", advise(retryNow)))
}

// busy is a model that always wants the tool.
type busy struct{ journal string }

func (b busy) Stream(context.Context, llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		begun(b.journal, "call")
		time.Sleep(20 * time.Millisecond)
		for _, d := range []llm.Delta{
			{Kind: llm.DeltaStart},
			{Kind: llm.DeltaCall, CallID: fmt.Sprint(time.Now().UnixNano()), Name: "fetch"},
			{Kind: llm.DeltaArgs, Text: "{}"},
			{Kind: llm.DeltaStop, Stop: llm.StopToolUse},
		} {
			if !yield(d, nil) {
				return
			}
		}
	}
}

// begun writes down that an effect begins now.
func begun(journal, what string) {
	f, err := os.OpenFile(journal, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	fmt.Fprintln(f, time.Now().UnixNano(), what)
	if err := f.Close(); err != nil {
		panic(err)
	}
}

// beginnings are the times in a journal.
func beginnings(t *testing.T, journal string) (times []time.Time) {
	t.Helper()
	b, err := os.ReadFile(journal)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		at, _, _ := strings.Cut(line, " ")
		n, err := strconv.ParseInt(at, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		times = append(times, time.Unix(0, n))
	}
	return times
}

// TestI34I35AStoppedOwner stops an owner for longer than its lease, at any instant of what
// it does. Another process goes on with the run; the owner, once it wakes, begins neither a
// call nor a tool, and its appends are refused.
func TestI34I35AStoppedOwner(t *testing.T) {
	for i := range 3 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			stoppedOwner(t, time.Duration(i)*7*time.Millisecond)
		})
	}
}

// startOwner starts an owner process on dir and waits until it is at work. It gives what the
// process says after the id of its run, and opens the store beside it.
func startOwner(t *testing.T, dir string) (owner *exec.Cmd, says *bufio.Scanner, id string, log *timeline.Journal) {
	t.Helper()
	owner = exec.CommandContext(context.Background(), os.Args[0])
	owner.Env = append(os.Environ(), ownerFolder+"="+dir)
	out, err := owner.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = owner.Process.Kill() // it may have ended
		_ = owner.Wait()
	})
	says = bufio.NewScanner(out)
	says.Scan()
	poll(t, func() bool { return len(beginnings(t, filepath.Join(dir, "journal"))) > 3 })
	if log, err = sqlite.Open(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() })
	return owner, says, says.Text(), log
}

// TestI36AKilledOwner: whoever keeps the store goes on with the run of an owner that was
// killed, within its lease and 5 s.
func TestI36AKilledOwner(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	owner, _, id, log := startOwner(t, dir)
	ctx, cancel := context.WithCancel(context.Background())
	next, kept := busyRunner(log, filepath.Join(dir, "next")), make(chan error, 1)
	go func() { kept <- next.Keep(ctx, nil) }()
	if err := owner.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	killed := time.Now()
	poll(t, func() bool { return len(beginnings(t, filepath.Join(dir, "next"))) > 0 })
	events, _ := stored(t, log, id)
	for _, e := range events {
		if c, ok := e.Body.(recovery.Claimed); ok && c.Epoch == 2 && e.Time.Sub(killed) > shortLease+5*time.Second {
			t.Errorf("it was claimed %s after its owner was killed", e.Time.Sub(killed))
		}
	}
	cancel()
	if err := <-kept; err != nil {
		t.Error(err)
	}
}

func stoppedOwner(t *testing.T, instant time.Duration) {
	dir := t.TempDir()
	owner, says, id, log := startOwner(t, dir)
	journal := filepath.Join(dir, "journal")
	time.Sleep(instant)
	stop(t, owner, dir)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	next := busyRunner(log, filepath.Join(dir, "next"))
	var run *runner.Run
	poll(t, func() bool {
		var err error
		run, err = next.Resume(ctx, id)
		if _, stuck := errors.AsType[*timeline.StoreError](err); stuck {
			signal(t, owner, syscall.SIGCONT)
			stop(t, owner, dir)
		} else if err != nil && !errors.Is(err, timeline.ErrOwned) {
			t.Fatal(err)
		}
		return err == nil
	})
	taken := time.Now()
	poll(t, func() bool { return len(beginnings(t, filepath.Join(dir, "next"))) > 3 })
	signal(t, owner, syscall.SIGCONT)
	if !says.Scan() || !strings.HasPrefix(says.Text(), "true ") {
		t.Errorf("the owner that woke says %q", says.Text())
	}
	for _, at := range beginnings(t, journal) {
		if at.After(taken) {
			t.Errorf("the owner began something %s after its run was taken", at.Sub(taken))
		}
	}
	cancel()
	if _, err := run.Wait(t.Context()); !errors.Is(err, runner.ErrCancelled) {
		t.Errorf("the new owner ends with %v", err)
	}
	oneAfterTheOther(t, log, id)
}

// oneAfterTheOther makes sure that the log has no gap, and nothing of the first owner once
// there is a second.
func oneAfterTheOther(t *testing.T, log timeline.Log, id string) {
	t.Helper()
	events, state := stored(t, log, id)
	var epochs []uint64
	for _, e := range events {
		if c, ok := e.Body.(recovery.Claimed); ok {
			epochs = append(epochs, c.Epoch)
		}
	}
	if fmt.Sprint(epochs) != "[1 2]" || state.Status != recovery.StatusCancelled {
		t.Errorf("epochs %v, %s", epochs, state.Status)
	}
}

// stop stops an owner, but not in the middle of a transaction: nobody could write then.
func stop(t *testing.T, owner *exec.Cmd, dir string) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, "timeline.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	db.SetMaxOpenConns(1)
	poll(t, func() bool {
		signal(t, owner, syscall.SIGSTOP)
		_, err := db.ExecContext(t.Context(), "BEGIN IMMEDIATE; ROLLBACK")
		if err != nil {
			signal(t, owner, syscall.SIGCONT)
		}
		return err == nil
	})
}

func signal(t *testing.T, cmd *exec.Cmd, s syscall.Signal) {
	t.Helper()
	if err := cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// poll waits until done, for a bounded time.
func poll(t *testing.T, done func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !done(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it did not happen within 30 s")
		}
	}
}
