package main

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/internal/exit"
	"github.com/mulligan-run/mulligan/server"
	"github.com/mulligan-run/mulligan/show"
	"github.com/mulligan-run/mulligan/timeline"
)

// TestExplainARunOfAnotherProcess: a person is told what to type, and nothing that only a program
// could do.
func TestExplainARunOfAnotherProcess(t *testing.T) {
	a := &app{&server.Server{Screen: show.New(io.Discard, io.Discard)}}
	err := a.explain(fmt.Errorf("run r1: %w", &timeline.OwnedError{Run: "r1", Owner: "box-7-ABC", Until: time.Now()}))
	if exit.Of(err) != exit.CodeFailed {
		t.Errorf("exit code %d", exit.Of(err))
	}
	for _, want := range []string{"another process goes on with run r1: box-7-ABC", "runs show r1", "runs cancel r1"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q lacks %q", err, want)
		}
	}
	if strings.Contains(err.Error(), "inbox") {
		t.Errorf("%q", err)
	}
}
