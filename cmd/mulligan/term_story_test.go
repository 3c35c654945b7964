package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/internal/exit"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/server"
)

// signalled starts a run, sends it the signal once a line of its JSON has the text, and
// gives the lines that it printed, what it said to people and its exit code. It ends
// within 10 s.
func (h *home) signalled(s os.Signal, text string, env []string, args ...string) (lines []string, said string, code int) {
	h.Helper()
	cmd, lines, sent, err := h.hit(s, text, env, args)
	if took := time.Since(sent); took > 10*time.Second {
		h.Errorf("I46: it took %s, or was never told", took)
	}
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		h.Fatal(err)
	}
	return lines, cmd.Stderr.(*bytes.Buffer).String(), cmd.ProcessState.ExitCode()
}

func TestTerminatedInMidStream(t *testing.T) {
	t.Parallel()
	h := newHome(t, "503, stall:Hello wor, answer:All good.")
	printed, said, code := h.signalled(syscall.SIGTERM, stalled, nil, "--auto-recover", "hi")
	run := h.kept(printed)
	if code != exit.CodeTerminated || !strings.Contains(said, "runs resume "+run) {
		t.Errorf("exit code %d; it said %q", code, said)
	}
	_, events := h.events(run)
	if over, ok := events[len(events)-1].Body.(recovery.Failed); !ok || over.Cause != recovery.CauseHandedOver || over.Text != "Hello wor" {
		t.Errorf("the last of what was written is %+v", events[len(events)-1])
	}
	voters := 0
	for _, e := range events {
		if v, ok := e.Body.(recovery.Voted); ok {
			gone(t, v.Vote.PID)
			voters++
		}
	}
	if voters == 0 {
		t.Error("no plugin was asked")
	}
	h.asked(2)
	if out := h.mulligan(0, "runs", "resume", run); out != "All good.\n" {
		t.Errorf("answer %q", out)
	}
	h.asked(3)
	h.kept(printed)
}

func TestTerminatedInTheMiddleOfATool(t *testing.T) {
	t.Parallel()
	h := newHome(t, weatherCall+", answer:All good.")
	printed, _, code := h.signalled(syscall.SIGTERM, `"type":"tool_began"`, []string{server.ToolDelayEnv + "=1m"}, "--tool", "get_weather", "hi")
	run := h.kept(printed)
	if code != exit.CodeTerminated {
		t.Errorf("exit code %d", code)
	}
	if out := h.mulligan(0, "runs", "resume", run); out != "All good.\n" {
		t.Errorf("answer %q", out)
	}
	h.asked(2)
	if got := h.journal(); got[len(got)-1] != "ended" || slices.Index(got, "ended") != len(got)-1 {
		t.Errorf("journal %v", got)
	}
}

func TestInterruptedIsCancelled(t *testing.T) {
	t.Parallel()
	h := newHome(t, "stall:Hello wor, answer:All good.")
	printed, _, code := h.signalled(os.Interrupt, stalled, nil, "--auto-recover", "hi")
	_, events := h.events(h.kept(printed))
	end, ok := events[len(events)-1].Body.(recovery.Ended)
	if code != exit.CodeCancelled || !ok || end.Status != recovery.StatusCancelled {
		t.Errorf("exit code %d, and its last event is %+v", code, events[len(events)-1])
	}
	h.asked(1)
}
