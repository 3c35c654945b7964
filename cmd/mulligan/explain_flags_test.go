package main

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestAPersonIsToldThatABodyIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, slow := io.Pipe()
		go func() {
			time.Sleep(3 * time.Second) // a person is told after 2
			_, _ = io.WriteString(slow, "overloaded")
			_ = slow.Close()
		}()
		var out, err bytes.Buffer
		cmd := newExplain()
		cmd.SetArgs([]string{})
		cmd.SetIn(in)
		cmd.SetOut(&out)
		cmd.SetErr(&err)
		if problem := cmd.Execute(); problem != nil {
			t.Fatal(problem)
		}
		if got := err.String(); got != "Waiting for a body on stdin; its end is Ctrl-D.\n" {
			t.Errorf("stderr: %q", got)
		}
		if !strings.Contains(out.String(), "overloaded") {
			t.Errorf("stdout: %s", out.String())
		}
	})
}
