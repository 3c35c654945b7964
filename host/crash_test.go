package host

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/mulligan-run/mulligan/hooks"
)

func TestACrashNamesEverything(t *testing.T) {
	t.Parallel()
	var crash *crashError
	var err error
	// A busy machine may show the end of a process later than the host waits for it.
	for began := time.Now(); crash == nil && time.Since(began) < patience; {
		h := faultyHost(t, "exit", "")
		if err := h.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		_, err = h.plugins[0].Advise(t.Context(), hooks.RunError{})
		errors.As(err, &crash)
	}
	if crash == nil || crash.Plugin != "faulty" || crash.Version != "1.2.3" || crash.Code != 3 || crash.Signal != "" ||
		crash.PID == 0 || crash.Stderr != "last words" {
		t.Errorf("%+v: %v", crash, err)
	}
}

func TestACrashErrorIsBounded(t *testing.T) {
	e := &crashError{Plugin: "p\x1b", Version: "1", Code: -1, Signal: "killed", Err: errors.New(strings.Repeat("\x00", 5000))}
	if text := e.Error(); len(text) > hooks.MaxError || !strings.HasPrefix(text, `plugin p\x1b 1 ended (signal: killed): \x00`) {
		t.Errorf("%d bytes: %s", len(text), text)
	}
	s := newStderrLog(New().logger, &lastLines{}, unchanged)
	for n := range 3 * keptLines {
		s.last = append(s.last[max(0, len(s.last)-keptLines+1):], fmt.Sprintf("line %d of %s", n, strings.Repeat("ä", 40)))
	}
	e.Stderr = s.tail(crashBytes)
	if text := e.Error(); len(text) > hooks.MaxError || !strings.Contains(text, "line 149 ") || len(e.Stderr) > crashBytes || strings.Count(e.Stderr, "\n") >= keptLines {
		t.Errorf("%d bytes: %s", len(text), text)
	}
}

// A process that is gone closes its connection, and a call that was on it may hear either.
func TestACallThatWasLost(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		err  error
		lost bool
	}{
		{"the connection broke", &crashError{Err: status.Error(codes.Unavailable, "EOF")}, true},
		{"the connection was closed", &crashError{Err: status.Error(codes.Canceled, "grpc: the client connection is closing")}, true},
		{"it answered and ended", &crashError{Err: status.Error(codes.InvalidArgument, "no")}, false},
		{"a service went away", &explained{err: status.Error(codes.Unavailable, "EOF"), lost: true}, true},
		{"a service has no time", &explained{err: status.Error(codes.Unavailable, "at lunch")}, false},
	} {
		if got := lostCall(test.err); got != test.lost {
			t.Errorf("%s: %v", test.name, got)
		}
	}
}
