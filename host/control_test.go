package host

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/recovery"
)

// TestAPersonDisablesAPlugin: calls that were asked before are answered, none is asked after, also
// in a host that starts all its plugins; once enabled, it is like new.
func TestAPersonDisablesAPlugin(t *testing.T) {
	t.Parallel()
	open := filepath.Join(t.TempDir(), "open")
	h := faultyHost(t, "gate", "", "GATE="+open)
	if err := h.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	old := h.Statuses()[0].PID
	inFlight := make(chan recovery.Vote, 1)
	go func() {
		vote, err := h.plugins[0].Advise(t.Context(), hooks.RunError{})
		if err != nil {
			vote.Error = err.Error()
		}
		inFlight <- vote
	}()
	first := h.plugins[0].peer.connected()
	waitFor(t, "the call", func() bool { first.calls.mu.Lock(); defer first.calls.mu.Unlock(); return first.calls.n == 1 })
	name := h.plugins[0].name
	for range 2 { // the second changes nothing
		if err := h.Disable(name, "anna"); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(open, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if vote := <-inFlight; vote.Action != recovery.ActionRetry || vote.PID != old {
		t.Errorf("what it was asked before: %+v", vote)
	}
	if vote, _ := ask(t, h); vote.Action != recovery.ActionNone || !strings.HasPrefix(vote.Error, "disabled by anna since ") {
		t.Errorf("%+v", vote)
	}
	gone(t, old)
	if err := h.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "disabled by anna") {
		t.Errorf("a start: %v", err)
	}
	if err := h.Restart(t.Context(), name, "anna"); err == nil || !strings.Contains(err.Error(), "disabled by anna") {
		t.Errorf("a restart: %v", err)
	}
	if s := h.Statuses()[0]; s.State != StateDisabled || s.Disabled == nil || s.Disabled.By != "anna" || s.PID != 0 || s.Breaker != BreakerClosed || s.LastError != "" {
		t.Errorf("%+v", s)
	}
	if err := h.Enable(t.Context(), name, "bert"); err != nil {
		t.Fatal(err)
	}
	if s := h.Statuses()[0]; s.State != StateReady || s.Disabled != nil || s.Restarts != 0 {
		t.Errorf("%+v", s)
	}
	if vote, _ := ask(t, h); vote.Action != recovery.ActionRetry {
		t.Errorf("%+v", vote)
	}
}

// TestAPersonRestartsAPlugin: another process answers, and what tripped it is forgotten.
func TestAPersonRestartsAPlugin(t *testing.T) {
	t.Parallel()
	h := faultyHost(t, "ok", "")
	if err := h.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	p := h.plugins[0]
	old := h.Statuses()[0].PID
	p.mu.Lock()
	for range 3 {
		p.breaker.failed(p.restarts.next)
	}
	p.lastError = "three times"
	p.mu.Unlock()
	if err := h.Restart(t.Context(), p.name, "anna"); err != nil {
		t.Fatal(err)
	}
	gone(t, old)
	if s := h.Statuses()[0]; s.State != StateReady || s.PID == old || s.LastError != "" || s.Breaker != BreakerClosed {
		t.Errorf("%+v", s)
	}
	for what, err := range map[string]error{
		"restart": h.Restart(t.Context(), "nobody", "anna"), "disable": h.Disable("nobody", "anna"), "enable": h.Enable(t.Context(), "nobody", "anna"),
	} {
		if !errors.Is(err, ErrNoPlugin) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestAGuardIsNotDisabled: without the answer of a fail-closed plugin no model call begins, so
// disabling it would stop them all.
func TestAGuardIsNotDisabled(t *testing.T) {
	t.Parallel()
	h := New()
	t.Cleanup(func() { _ = h.Close() })
	spec := faultySpec("ok", "")
	spec.FailClosed = true
	if err := h.Add(spec); err != nil {
		t.Fatal(err)
	}
	if err := h.Disable(spec.Name, "anna"); err == nil || !strings.Contains(err.Error(), "fail_closed") || h.Statuses()[0].Disabled != nil {
		t.Errorf("%v, %+v", err, h.Statuses()[0])
	}
}

// TestWhatItSaidLast: the last ten lines are kept, over its processes, cut and without what steers a terminal.
func TestWhatItSaidLast(t *testing.T) {
	t.Parallel()
	var l lastLines
	for range 30 {
		l.add(strings.Repeat("x", 1000) + "\x1b[31m")
	}
	l.add("a\x1b[2Jb")
	said := l.all()
	if len(said) != saidLines || len(said[0]) > saidOfLine+len("…") || strings.ContainsRune(said[saidLines-1], '\x1b') || !strings.HasPrefix(said[saidLines-1], "a") {
		t.Errorf("%q", said)
	}
	h := faultyHost(t, "log", "")
	if err := h.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	ask(t, h)
	waitFor(t, "its words", func() bool { return len(h.Said(h.plugins[0].name)) > 0 })
	before := h.Said(h.plugins[0].name)
	if err := h.Restart(t.Context(), h.plugins[0].name, "anna"); err != nil {
		t.Fatal(err)
	}
	if after := h.Said(h.plugins[0].name); !slices.Contains(after, before[0]) || h.Said("nobody") != nil {
		t.Errorf("%q is not in %q", before, after)
	}
}
