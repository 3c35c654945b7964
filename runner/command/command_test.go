package command_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/runner/command"
)

// holderVariable makes this test binary a program that calls a tool, and is killed.
const holderVariable = "COMMAND_TEST_HOLDER"

func TestMain(m *testing.M) {
	if script := os.Getenv(holderVariable); script != "" {
		tool, err := command.Tool(command.Spec{Name: "held", Command: []string{"sh", "-c", script}})
		if err == nil {
			_, err = tool.Run(context.Background(), runner.ToolCall{})
		}
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// sh makes a tool of a shell script.
func sh(t *testing.T, script string, amend ...func(*command.Spec)) runner.Tool {
	t.Helper()
	spec := command.Spec{Name: "script", Command: []string{"sh", "-c", script}}
	for _, f := range amend {
		f(&spec)
	}
	tool, err := command.Tool(spec)
	if err != nil {
		t.Fatal(err)
	}
	return tool
}

func call(t *testing.T, tool runner.Tool) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	return tool.Run(ctx, runner.ToolCall{ID: "c1", IdempotencyKey: "r1/1/c1", Args: json.RawMessage(`{"city":"Oslo"}`)})
}

func result(t *testing.T, tool runner.Tool) string {
	t.Helper()
	text, err := call(t, tool)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestResult(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, script, want string }{
		{"stdout", `echo "14 °C"; echo noise >&2`, "14 °C\n"},
		{"nothing", `true`, ""},
		{"arguments", `cat`, `{"city":"Oslo"}`},
		{"the call", `echo "$MULLIGAN_CALL_ID $MULLIGAN_IDEMPOTENCY_KEY"`, "c1 r1/1/c1\n"},
		{"no UTF-8", `printf 'a\377\376b\303'`, "a\uFFFDb\uFFFD"},
		{"control characters", `printf 'a\000b\007c\td\r\n\033[31mred\033[0m\033]0;title\007!\rx'`, "abc\td\nred!\nx"},
		{"no terminal", `(: </dev/tty) 2>/dev/null || echo none`, "none\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := result(t, sh(t, c.script)); got != c.want {
				t.Errorf("%q, not %q", got, c.want)
			}
		})
	}
}

func TestArgumentsThatNobodyReads(t *testing.T) {
	t.Parallel()
	args := json.RawMessage(`{"a":"` + strings.Repeat("x", 1<<20) + `"}`)
	for _, script := range []string{"echo ok", "exec 3<&0; sleep 1000 <&3 & echo ok"} {
		text, err := sh(t, script).Run(t.Context(), runner.ToolCall{Args: args})
		if text != "ok\n" || err != nil {
			t.Errorf("%s: %q, %v", script, text, err)
		}
	}
	text, err := sh(t, "cat").Run(t.Context(), runner.ToolCall{})
	if text != "{}" || err != nil {
		t.Errorf("no arguments: %q, %v", text, err)
	}
}

func TestFailure(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		script string
		want   []string
	}{
		{`echo half; echo "no such city" >&2; exit 3`, []string{"script: it failed with exit code 3\nstderr:\nno such city\nstdout:\nhalf"}},
		{`exit 1`, []string{"script: it failed with exit code 1"}},
		{`kill -SEGV $$`, []string{"it ended badly", "segmentation"}},
		{`i=0; while [ $i -lt 5000 ]; do echo "line $i" >&2; i=$((i+1)); done; exit 1`, []string{"line 4999"}},
	} {
		text, err := call(t, sh(t, c.script))
		if err == nil || text != "" {
			t.Errorf("%s: %q, %v", c.script, text, err)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %q without %q", c.script, err, want)
			}
		}
		if len(err.Error()) > 20<<10 {
			t.Errorf("%s: %d bytes", c.script, len(err.Error()))
		}
	}
}

func TestOutputIsBounded(t *testing.T) {
	t.Parallel()
	small := func(s *command.Spec) { s.MaxOutput = command.MinOutput }
	for _, c := range []struct {
		name, script string
		whole        bool
	}{
		{"fits", `head -c 1024 /dev/zero | tr '\0' x`, true},
		{"one more", `head -c 1025 /dev/zero | tr '\0' x`, false},
		{"much", `echo begin; head -c 3000000 /dev/zero | tr '\0' x; echo end`, false},
		{"grows when it is cleaned", `printf begin; i=0; while [ $i -lt 300 ]; do printf 'a\377'; i=$((i+1)); done; printf end`, false},
		{"cut runes", `echo begin; i=0; while [ $i -lt 900 ]; do printf €; i=$((i+1)); done; echo end`, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			text := result(t, sh(t, c.script, small))
			_, after, cut := strings.Cut(text, "\n[… the middle is left out here: the output had ")
			if cut == c.whole || len(text) > command.MinOutput || len(text) < command.MinOutput/2 || !utf8.ValidString(text) {
				t.Errorf("%d bytes: %q", len(text), text)
			}
			if strings.Contains(c.script, "begin") && (!strings.HasPrefix(text, "begin") || !strings.HasSuffix(strings.TrimSpace(after), "end")) {
				t.Errorf("beginning or end is lost: %q", text)
			}
			if c.name == "cut runes" && strings.ContainsRune(text, utf8.RuneError) {
				t.Errorf("a rune was cut: %q", text)
			}
		})
	}
	if n := len(result(t, sh(t, `head -c 3000000 /dev/zero | tr '\0' x`))); n > runner.MaxToolResult || n < runner.MaxToolResult-1 {
		t.Errorf("%d bytes by default", n)
	}
}

func TestEnvironment(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "canary-1")
	t.Setenv("WEATHER_TOKEN", "told")
	tool := sh(t, "env", func(s *command.Spec) {
		s.Env = []string{"WEATHER_TOKEN", "NOT_SET_ANYWHERE", "UNITS=metric", "MULLIGAN_CALL_ID=forged"}
	})
	text := result(t, tool)
	for _, want := range []string{"PATH=", "HOME=", "WEATHER_TOKEN=told\n", "UNITS=metric\n", "MULLIGAN_CALL_ID=c1\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
	allowed := " PATH HOME LANG TMPDIR WEATHER_TOKEN UNITS MULLIGAN_CALL_ID MULLIGAN_IDEMPOTENCY_KEY PWD OLDPWD SHLVL _ "
	for line := range strings.Lines(text) {
		if name, _, _ := strings.Cut(line, "="); !strings.Contains(allowed, " "+name+" ") {
			t.Errorf("it has %s", line)
		}
	}
}

func TestDir(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "hello"), "#!/bin/sh\npwd\n", 0o700)
	tool, err := command.Tool(command.Spec{Name: "hello", Command: []string{"./hello"}, Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	want, err := filepath.EvalSymlinks(dir)
	if got := result(t, tool); err != nil || strings.TrimSpace(got) != want {
		t.Errorf("%q, not %q (%v)", got, want, err)
	}
}

func TestBadSpecs(t *testing.T) {
	t.Parallel()
	for want, amend := range map[string]func(*command.Spec){
		"not a name for a tool":       func(s *command.Spec) { s.Name = "get weather" },
		"command is missing":          func(s *command.Spec) { s.Command = nil },
		"not found":                   func(s *command.Spec) { s.Command = []string{"no-such-program-anywhere"} },
		"no such file":                func(s *command.Spec) { s.Command = []string{"./nothing"} },
		"permission denied":           func(s *command.Spec) { s.Command = []string{"./command_test.go"} },
		"there is no folder":          func(s *command.Spec) { s.Dir = "/nowhere/at/all" },
		"not known":                   func(s *command.Spec) { s.Safety = "sometimes" },
		"negative":                    func(s *command.Spec) { s.Grace = -1 },
		"is not between":              func(s *command.Spec) { s.MaxOutput = 1 },
		"not an environment variable": func(s *command.Spec) { s.Env = []string{"A B=1"} },
		`"type": "object"`:            func(s *command.Spec) { s.Schema = json.RawMessage(`{"type":"string"}`) },
		`a JSON Schema with`:          func(s *command.Spec) { s.Schema = json.RawMessage(`[]`) },
		`the schema is not a`:         func(s *command.Spec) { s.Schema = json.RawMessage(`null`) },
		"the schema has 65537":        func(s *command.Spec) { s.Schema = json.RawMessage(strings.Repeat(" ", 65537)) },
	} {
		spec := command.Spec{Name: "x", Command: []string{"true"}}
		amend(&spec)
		if _, err := command.Tool(spec); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q, not %q", err, want)
		}
	}
	spec := command.Spec{
		Name: "x", Command: []string{"true"}, Description: "d", Safety: recovery.SafetyIdempotent,
		Timeout: time.Minute, Schema: json.RawMessage(`{"type":"object"}`),
	}
	tool, err := command.Tool(spec)
	if err != nil || tool.Name != "x" || tool.Description != "d" || tool.Safety != spec.Safety || tool.Timeout != time.Minute || tool.Schema == nil {
		t.Errorf("%+v, %v", tool, err)
	}
}

// stubborn starts, in its group, a child and a grandchild that ignore SIGTERM as it
// does, and writes the three numbers into the file pids.
const stubborn = `trap "" TERM
sh -c 'sleep 1000 & echo $$ $! >some; wait' &
until [ -s some ]; do sleep 0.01; done
echo $$ $(cat some) >all; mv all pids
echo half
wait`

// begin calls a tool that runs in dir and gives the numbers of its processes once it
// has written them. The call ends with ctx.
func begin(ctx context.Context, t *testing.T, tool runner.Tool, dir string) (pids []int, ended <-chan error) {
	t.Helper()
	done := make(chan error, 1)
	go func() {
		_, err := tool.Run(ctx, runner.ToolCall{ID: "c1"})
		done <- err
	}()
	return readPids(t, dir), done
}

func readPids(t *testing.T, dir string) (pids []int) {
	t.Helper()
	var text []byte
	eventually(t, "the tool writes its processes' numbers", func() (ok bool) {
		var err error
		text, err = os.ReadFile(filepath.Join(dir, "pids"))
		return err == nil
	})
	for word := range strings.FieldsSeq(string(text)) {
		pid, err := strconv.Atoi(word)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if t.Failed() {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		})
		pids = append(pids, pid)
	}
	return pids
}

func TestStopped(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, script string
		grace        time.Duration
		pids         int
		want         string
	}{
		{"ignores SIGTERM", stubborn, 300 * time.Millisecond, 3, "script: it was stopped, did not end within 300ms and was killed; it may or may not have taken effect\nstdout:\nhalf"},
		{"ends in order", `trap 'echo tidied; exit 0' TERM; echo $$ >all; mv all pids; while :; do sleep 0.01; done`, time.Minute, 1, "stdout:\ntidied"},
		{"ends before its child", `sh -c 'trap "sleep 0.3; echo tidied; exit" TERM; echo $$ $PPID >all; mv all pids; while :; do sleep 0.01; done' & wait`, time.Minute, 2, "stdout:\ntidied"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			tool := sh(t, c.script, func(s *command.Spec) { s.Dir, s.Grace = dir, c.grace })
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			pids, ended := begin(ctx, t, tool, dir)
			cancel()
			if err := <-ended; !errors.Is(err, runner.ErrOutcomeUnknown) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, not %q", err, c.want)
			}
			if len(pids) != c.pids {
				t.Errorf("processes %v", pids)
			}
			for _, pid := range pids {
				if runs(pid) {
					t.Errorf("process %d of %v is left", pid, pids)
				}
			}
		})
	}
}

func TestStoppedBeforeItBegins(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := sh(t, "touch ran", func(s *command.Spec) { s.Dir = dir }).Run(ctx, runner.ToolCall{})
	if _, statErr := os.Stat(filepath.Join(dir, "ran")); err == nil || statErr == nil {
		t.Errorf("it ran: %v", err)
	}
}

// What a program leaves behind ends with it, whether it holds stdout open or not.
func TestLeftBehind(t *testing.T) {
	t.Parallel()
	for name, redirect := range map[string]string{"holds stdout": "", "holds nothing": "</dev/null >/dev/null 2>&1"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			script := `(trap "" TERM HUP; sleep 1000 ` + redirect + `) & echo $! >pids; echo done`
			if got := result(t, sh(t, script, func(s *command.Spec) { s.Dir = dir })); got != "done\n" {
				t.Errorf("%q", got)
			}
			for _, pid := range readPids(t, dir) {
				if runs(pid) {
					t.Errorf("process %d is left", pid)
				}
			}
		})
	}
}

// A daemon that leaves the group on purpose is not ours; it does not hold the call up.
func TestDaemonHoldsStdout(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("setsid"); err != nil {
		missing(t, "the program setsid")
	}
	dir := t.TempDir()
	script := `setsid sh -c 'echo $$ >all; mv all pids; sleep 1000' & until [ -s pids ]; do sleep 0.01; done; echo done`
	got := result(t, sh(t, script, func(s *command.Spec) { s.Dir = dir }))
	for _, pid := range readPids(t, dir) {
		if !runs(pid) {
			t.Errorf("process %d is gone", pid)
		}
		_ = syscall.Kill(-pid, syscall.SIGKILL)
	}
	if got != "done\n" {
		t.Errorf("%q", got)
	}
}

// The runner ends the context of a call that takes too long, and says so.
func TestTimeout(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tool := sh(t, `echo $$ >pids; exec sleep 1000`, func(s *command.Spec) { s.Dir, s.Grace = dir, time.Minute })
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := tool.Run(ctx, runner.ToolCall{}); err == nil || !strings.Contains(err.Error(), "it was stopped;") {
		t.Error(err)
	}
	for _, pid := range readPids(t, dir) {
		if runs(pid) {
			t.Errorf("process %d is left", pid)
		}
	}
}

func TestDiesWithItsHolder(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("no parent-death signal")
	}
	dir := t.TempDir()
	holder := exec.CommandContext(t.Context(), os.Args[0])
	holder.Dir = dir
	holder.Env = append(os.Environ(), holderVariable+"=echo $$ >all; mv all pids; exec sleep 1000")
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	pids := readPids(t, dir)
	if err := holder.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = holder.Wait()
	for _, pid := range pids {
		eventually(t, "the tool ends", func() bool { return !runs(pid) })
	}
}

func TestCallsSideBySide(t *testing.T) {
	t.Parallel()
	tool := sh(t, "cat; sleep 0.05")
	ended := make(chan string)
	const calls = 16
	for i := range calls {
		go func() {
			text, err := tool.Run(t.Context(), runner.ToolCall{Args: json.RawMessage(fmt.Sprintf(`{"n":%d}`, i))})
			if err != nil {
				text = err.Error()
			}
			ended <- text
		}()
	}
	seen := map[string]bool{}
	for range calls {
		seen[<-ended] = true
	}
	for i := range calls {
		if !seen[fmt.Sprintf(`{"n":%d}`, i)] {
			t.Errorf("call %d is missing in %v", i, seen)
		}
	}
}

// runs reports whether a process runs; one that ended and nobody waited for does not.
func runs(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return runtime.GOOS != "linux"
	}
	state := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))[0]
	return state != "Z" && state != "X"
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
	}
}

func missing(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatalf("%s is missing", what)
	}
	t.Skipf("%s is missing", what)
}

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}
