package pi

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/internal/procgroup"
	"github.com/mulligan-run/mulligan/llm"
)

// The promises of doc.go, each with a test that has its number and a patch in
// testdata/mutants that breaks it.

// recorded makes an engine for each recording of that name, and tries it.
func recorded(t *testing.T, names []string, try func(t *testing.T, e *Engine)) {
	t.Helper()
	for generation := range generations {
		for _, name := range names {
			t.Run(generation+"/"+name, func(t *testing.T) {
				t.Parallel()
				script, err := os.ReadFile(filepath.Join("testdata", generation, name+".txt"))
				if err != nil {
					t.Fatal(err)
				}
				try(t, fake(t, string(script)))
			})
		}
	}
}

func TestPi01OneFailure(t *testing.T) {
	recorded(t, []string{"overloaded", "unavailable", "html-502", "error-event", "bad-key", "refused", "own-retry"}, func(t *testing.T, e *Engine) {
		if a, f := hear(t.Context(), t, e, ask()); f == nil {
			t.Fatalf("no failure: %+v", a)
		}
		if a, f := hear(t.Context(), t, e, ask()); f != nil || a.Message("").Text() != "Fine." {
			t.Errorf("%+v; told again: %v", a, f)
		}
	})
}

func TestPi02NothingIsNoAnswer(t *testing.T) {
	recorded(t, []string{"empty", "empty-openai", "html-200"}, func(t *testing.T, e *Engine) {
		if a, f := hear(t.Context(), t, e, ask()); f == nil || f.Kind != failure.KindEmptyResponse {
			t.Errorf("%+v, %v", a, f)
		}
	})
}

func TestPi03CallsHaveAnEnd(t *testing.T) {
	recorded(t, []string{"end-in-arguments-openai"}, func(t *testing.T, e *Engine) {
		if a, f := hear(t.Context(), t, e, ask()); f == nil || a.Stop == llm.StopToolUse {
			t.Errorf("%+v, %v", a, f)
		}
	})
}

func TestPi04WhatFailedIsWithdrawn(t *testing.T) {
	e := fake(t, modern+known+prompted+begun+saying("Half")+failed("413 status code (no body)")+done+
		"< {\"type\":\"compaction_start\",\"reason\":\"overflow\"}\n< {\"type\":\"compaction_end\",\"reason\":\"overflow\",\"willRetry\":true}\n< {\"type\":\"agent_start\"}\n"+
		begun+saying("Whole")+ended("Whole", "stop")+done+quietly)
	if a, f := hear(t.Context(), t, e, ask()); f == nil || a.Message("").Text() != "Half" {
		t.Fatalf("%+v, %v", a, f)
	}
	if a, f := hear(t.Context(), t, e, ask()); f != nil || a.Message("").Text() != "Whole" {
		t.Errorf("%+v, %v", a, f)
	}
}

func TestPi05NothingOutlivesTheTurn(t *testing.T) {
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		t.Skip("only Linux tells what is left:", err)
	}
	e := fake(t, modern+known+prompted+begun+saying("Fine.")+ended("Fine.", "stop")+done+quietly, func(c *Config) {
		c.Command = slices.Concat([]string{"sh", "-c", `setsid sleep 1000 </dev/null >/dev/null 2>&1 & exec "$@"`, "sh"}, c.Command)
	})
	if a, f := hear(t.Context(), t, e, ask()); f != nil {
		t.Fatalf("%+v, %v", a, f)
	}
	p := e.sessions["s"].last()
	marked := func() []int { return procgroup.Marked(func(variable string) bool { return variable == p.mark }) }
	for deadline := time.Now().Add(10 * time.Second); len(marked()) < 2; time.Sleep(time.Millisecond) { // Pi, and what it started
		if time.Now().After(deadline) {
			t.Fatal("nothing was started")
		}
	}
	e.Release("s")
	for deadline := time.Now().Add(10 * time.Second); len(marked()) > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%v are left", marked())
		}
	}
}

func TestPi06AMessageIsToldOnce(t *testing.T) {
	user := said("user", "hi", "")
	for name, known := range map[string][]message{
		"it failed":         {user, said("assistant", "", "error")},
		"it failed again":   {user, said("assistant", "", "error"), said("user", goOn, ""), said("assistant", "Half", "error")},
		"it was never sent": {user},
		"it was ended":      {user, said("assistant", "Half", "aborted")},
	} {
		p, err := planFor([]llm.Message{llm.User("hi")}, known, "pi")
		if err != nil || p.answer != nil || strings.Contains(p.text, "hi") || p.text != goOn {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
}
