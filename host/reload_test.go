package host

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/recovery"
)

func TestReloadReplacesAndDrains(t *testing.T) {
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
	spec := faultySpec("fail", "")
	spec.Labels = map[string]string{"mode": "dev"}
	if err := h.Reload(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	s := h.Statuses()[0]
	if vote, _ := ask(t, h); vote.Action != recovery.ActionFail || vote.PID != s.PID || s.PID == old || s.Labels["mode"] != "dev" {
		t.Errorf("%+v %+v", vote, s)
	}
	if !lives(old) {
		t.Error("the call in flight was cut")
	}
	if err := os.WriteFile(open, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if vote := <-inFlight; vote.Action != recovery.ActionRetry || vote.PID != old {
		t.Errorf("%+v", vote)
	}
	gone(t, old)
	if s := h.Statuses()[0]; s.State != StateReady || s.Restarts != 0 || s.LastError != "" {
		t.Errorf("%+v", s)
	}
}

func TestAFailedReloadKeepsTheOld(t *testing.T) {
	t.Parallel()
	h := faultyHost(t, "ok", "")
	if err := h.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := h.Statuses()[0]
	wrongConfig := faultySpec("ok", `{"n":"one"}`)
	silent := faultySpec("silent", "")
	pinned := faultySpec("ok", "")
	pinned.Pin = strings.Repeat("0", 64)
	pinned.Folder = "/nowhere"
	other := faultySpec("ok", "")
	other.Name = "other"
	for name, spec := range map[string]Spec{
		"exit": faultySpec("exit at start", ""), "handshake": faultySpec("garbage", ""), "config": wrongConfig, "time": silent, "pin": pinned, "name": other, "spec": {},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		if name == "time" {
			ctx, cancel = context.WithTimeout(t.Context(), 200*time.Millisecond)
		}
		err := h.Reload(ctx, spec)
		cancel()
		if err == nil {
			t.Errorf("%s: no error", name)
		}
		var crash *crashError
		if name == "exit" && (!errors.As(err, &crash) || crash.Code != 3 || !strings.Contains(err.Error(), "stays as it was")) {
			t.Errorf("%v", err)
		}
	}
	after := h.Statuses()[0]
	if vote, _ := ask(t, h); vote.Action != recovery.ActionRetry || vote.PID != before.PID || after.State != StateReady || after.LastError != "" {
		t.Errorf("%+v %+v", vote, after)
	}
}

// A reload brings back what was given up, and ends with its host.
func TestReloadBringsBackADisabledPlugin(t *testing.T) {
	t.Parallel()
	h := New()
	t.Cleanup(func() { _ = h.Close() })
	spec := faultySpec("exit at start", "")
	spec.Restart = RestartPolicy{Max: 1, First: 10 * time.Millisecond}
	if err := h.Add(spec); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		_ = h.Start(t.Context())
	}
	if s := h.Statuses()[0]; s.State != StateTripped || s.Restarts != 1 {
		t.Errorf("%+v", s)
	}
	if err := h.Reload(t.Context(), faultySpec("ok", "")); err != nil {
		t.Fatal(err)
	}
	if vote, _ := ask(t, h); vote.Action != recovery.ActionRetry {
		t.Errorf("%+v", vote)
	}
	done := make(chan error, 1)
	go func() { done <- h.Reload(context.Background(), faultySpec("silent", "")) }()
	time.Sleep(20 * time.Millisecond)
	if err := h.Close(); err != nil {
		t.Error(err)
	}
	select {
	case err := <-done:
		if err == nil {
			t.Error("reloaded into a closed host")
		}
	case <-time.After(patience):
		t.Error("the reload outlives its host")
	}
}
