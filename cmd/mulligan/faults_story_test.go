package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// servedFaults is a running `mulligan faults serve`.
type servedFaults struct {
	cmd    *exec.Cmd
	out    *watcher
	stderr bytes.Buffer
	ended  chan error
	cancel context.CancelFunc
}

var faultsAddress = regexp.MustCompile(`listens at (http://\S+)`)

// serving starts `mulligan faults serve` with the arguments, on a free port, waits until it
// listens, and writes the config that it prints to mulligan.yaml. $FAULTS_URL is its address.
func serving(ts *testscript.TestScript, args []string) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	s := &servedFaults{out: &watcher{text: "What is asked", seen: make(chan struct{})}, ended: make(chan error, 1), cancel: cancel}
	s.cmd = exec.CommandContext(ctx, "mulligan", append([]string{"faults", "serve", "--addr", "127.0.0.1:0", "--pace", "0"}, args...)...)
	s.cmd.Dir, s.cmd.Env = ts.MkAbs("."), environ(ts)
	s.cmd.Stdout, s.cmd.Stderr = s.out, &s.stderr
	ts.Check(s.cmd.Start())
	ts.Defer(cancel)
	go func() { s.ended <- s.cmd.Wait() }()
	select {
	case <-s.out.seen:
	case err := <-s.ended:
		ts.Fatalf("it does not serve: %v\n%s%s", err, s.out, s.stderr.String())
	}
	ts.Setenv("FAULTS_URL", faultsAddress.FindStringSubmatch(s.out.String())[1])
	_, config, _ := strings.Cut(s.out.String(), "<<'END'\n")
	config, _, _ = strings.Cut(config, "END\n")
	ts.Check(os.WriteFile(ts.MkAbs("mulligan.yaml"), []byte(config), 0o600))
	ts.Value(labKey{}).(*storyLab).faults = s
}

// served ends it as Ctrl-C does: at once, with exit code 0; if there is a text, when it has
// printed that. All that it printed is stdout.
func served(ts *testscript.TestScript, args []string) {
	s := ts.Value(labKey{}).(*storyLab).faults
	if s == nil || len(args) > 1 {
		ts.Fatalf("usage: served [TEXT], after serving")
	}
	defer s.cancel()
	for deadline := time.Now().Add(10 * time.Second); len(args) == 1 && !strings.Contains(s.out.String(), args[0]); {
		if time.Now().After(deadline) {
			ts.Fatalf("it has not printed %q but\n%s", args[0], s.out)
		}
		time.Sleep(5 * time.Millisecond)
	}
	begun := time.Now()
	ts.Check(s.cmd.Process.Signal(syscall.SIGINT))
	err := <-s.ended
	fmt.Fprint(ts.Stdout(), s.out.String())
	fmt.Fprint(ts.Stderr(), s.stderr.String())
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		ts.Fatalf("exit code %d", exit.ExitCode())
	}
	ts.Check(err)
	if took := time.Since(begun); took > 10*time.Second {
		ts.Fatalf("it took %s to end", took)
	}
}

// asking asks it so many times on Anthropic's wire; stdout is the statuses.
func asking(ts *testscript.TestScript, args []string) {
	n := 0
	if len(args) == 1 {
		n, _ = strconv.Atoi(args[0])
	}
	if n < 1 {
		ts.Fatalf("usage: asking N")
	}
	for range n {
		const body = `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}`
		r, err := http.NewRequest(http.MethodPost, ts.Getenv("FAULTS_URL")+"/v1/messages", strings.NewReader(body))
		ts.Check(err)
		r.Header.Set("X-Api-Key", "any")
		r.Header.Set("Anthropic-Version", "2023-06-01")
		resp, err := http.DefaultClient.Do(r)
		ts.Check(err)
		_ = resp.Body.Close()
		fmt.Fprintln(ts.Stdout(), resp.StatusCode)
	}
}
