package disk

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/timeline"
	"github.com/mulligan-run/mulligan/timeline/sqlite"
)

const (
	childTrouble = "DISK_TEST_TROUBLE" // makes the test binary a child: full or limited
	childFolder  = "DISK_TEST_FOLDER"
	diskSize     = 2 << 20 // of the full one, in bytes
	rounds       = 40
	resultSize   = 64 << 10 // of the tool, in bytes: all rounds together need more than there is
)

// sizes are the sizes of the disks, in bytes.
var sizes = map[string]int{"full": diskSize + 1<<20, "prune": 24 * diskSize}

// trouble is what is wrong with a child's disk.
type trouble struct {
	begin, end func() error
}

// child plays its part and ends the process.
func child(name, dir string) {
	t, err := troubles(name, dir)
	switch {
	case err != nil:
	case name == "prune":
		err = prune(filepath.Join(dir, "state"))
	default:
		err = play(filepath.Join(dir, "state"), t)
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("ok")
	os.Exit(0)
}

func troubles(name, dir string) (trouble, error) {
	if name == "limited" {
		signal.Ignore(syscall.SIGXFSZ)
		return trouble{begin: func() error { return limit(1 << 20) }, end: func() error { return limit(1 << 30) }}, nil
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d", sizes[name])); err != nil {
		return trouble{}, fmt.Errorf("cannot mount: %w", err)
	}
	ballast := filepath.Join(dir, "ballast")
	return trouble{
		begin: func() error { return os.WriteFile(ballast, make([]byte, diskSize/2), 0o600) },
		end: func() error {
			if err := os.Remove(ballast); err != nil {
				return err
			}
			return syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT, fmt.Sprintf("size=%d", 64*diskSize))
		},
	}, nil
}

// limit sets the maximum size of files that this process writes.
func limit(bytes uint64) error {
	var now syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &now); err != nil {
		return err
	}
	now.Cur = min(bytes, now.Max)
	return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &now)
}

// play drives a run whose store is in trouble from the beginning until people have been told about
// it twice.
func play(dir string, t trouble) error {
	ctx := context.Background()
	log, err := sqlite.Open(ctx, dir)
	if err != nil {
		return err
	}
	var calls, tools atomic.Int32
	tool := runner.Tool{Name: "fetch", Run: func(context.Context, runner.ToolCall) (string, error) {
		tools.Add(1)
		return strings.Repeat("x", resultSize), nil
	}}
	r := runner.New(runner.WithLog(log), runner.WithModel("lab/one", asking{&calls}), runner.WithTools(tool))
	if err := t.begin(); err != nil {
		return err
	}
	run, err := r.Start(ctx, runner.Request{Prompt: "hi"})
	if err != nil {
		return err
	}
	notice, err := follow(run, t.end, func() int32 { return calls.Load() + tools.Load() })
	if err != nil {
		return err
	}
	if _, err := run.Wait(context.Background()); err != nil {
		return err
	}
	fmt.Println(notice)
	return checkLog(ctx, log, run.ID(), calls.Load(), tools.Load())
}

// follow ends the trouble once people have been told of it twice. Nothing may begin until then.
func follow(run *runner.Run, mend func() error, begun func() int32) (notice string, err error) {
	told, before := 0, int32(0)
	for item, err := range run.Events() {
		if err != nil {
			return "", err
		}
		if item.Notice == nil {
			continue
		}
		switch told++; told {
		case 1:
			notice, before = item.Notice.Text, begun()
		case 3:
			if now := begun(); now != before {
				return "", fmt.Errorf("%d effects began while the store did not write", now-before)
			}
			if err := mend(); err != nil {
				return "", err
			}
		}
	}
	if told < 3 {
		return "", errors.New("nobody was told: there was no trouble")
	}
	return notice, nil
}

// checkLog checks the log in the end.
func checkLog(ctx context.Context, log *timeline.Journal, id string, calls, tools int32) error {
	events, err := log.Read(ctx, id, 0, 0)
	if err != nil {
		return err
	}
	state, err := recovery.Fold(events)
	if err != nil {
		return err
	}
	var paused []recovery.Paused
	for _, e := range events {
		if p, ok := e.Body.(recovery.Paused); ok {
			paused = append(paused, p)
		}
	}
	if state.Status != recovery.StatusCompleted || len(paused) == 0 || paused[0].For <= 0 || calls != rounds+1 || tools != rounds {
		return fmt.Errorf("the run is %s after %d calls and %d tools, and says of its pauses: %+v", state.Status, calls, tools, paused)
	}
	if n := bytes.Count(mustJSON(state.Messages), []byte(strings.Repeat("x", resultSize))); n != rounds {
		return fmt.Errorf("%d results are in the conversation, not %d", n, rounds)
	}
	return log.Close()
}

// asking is a model that calls the tool so many times, and then answers.
type asking struct{ calls *atomic.Int32 }

func (a asking) Stream(context.Context, llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		n := a.calls.Add(1)
		deltas := []llm.Delta{
			{Kind: llm.DeltaStart},
			{Kind: llm.DeltaCall, CallID: fmt.Sprint("c", n), Name: "fetch"},
			{Kind: llm.DeltaArgs, Text: "{}"},
			{Kind: llm.DeltaStop, Stop: llm.StopToolUse},
		}
		if n > rounds {
			deltas = []llm.Delta{{Kind: llm.DeltaStart}, {Kind: llm.DeltaText, Text: "done"}, {Kind: llm.DeltaStop, Stop: llm.StopEnd}}
		}
		for _, d := range deltas {
			if !yield(d, nil) {
				return
			}
			time.Sleep(time.Millisecond)
		}
	}
}
