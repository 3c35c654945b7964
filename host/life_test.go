package host

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/recovery"
)

// P26: a host that is killed takes its plugins with it: one with our SDK and, where the system
// helps, one without.
func TestP26PluginsDieWithTheirHost(t *testing.T) {
	for _, fault := range []string{"ok", "raw"} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			if fault == "raw" && runtime.GOOS != "linux" {
				t.Skip("no parent-death signal")
			}
			dir, err := os.MkdirTemp("/tmp", "m") // a short path
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.RemoveAll(dir) })
			child := exec.Command(os.Args[0])
			child.Env = append(os.Environ(), "FAULT=a host", "PLUGIN="+fault, "XDG_RUNTIME_DIR="+dir)
			child.Stderr = os.Stderr
			out, err := child.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := child.Start(); err != nil {
				t.Fatal(err)
			}
			line, _ := bufio.NewReader(out).ReadString('\n')
			pid, err := strconv.Atoi(strings.TrimSpace(line))
			if err != nil || !lives(pid) {
				t.Errorf("no plugin: %q", line)
			}
			_ = syscall.Kill(child.Process.Pid, syscall.SIGKILL)
			_ = child.Wait()
			if pid > 0 {
				gone(t, pid)
			}
		})
	}
}

// The life line alone ends a plugin: its host lives on and sends no signal.
func TestAPluginEndsWithItsLifeLine(t *testing.T) {
	t.Parallel()
	h := faultyHost(t, "ok", "")
	who, err := h.plugins[0].running(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p, ok := who.(*process)
	if !ok {
		t.Fatalf("%T", who)
	}
	_ = p.runner.process.Stdin.Close()
	if !p.dead(patience) {
		t.Fatal("the plugin lives on")
	}
	if p.runner.process.Err() != nil {
		t.Errorf("it ended with %v", p.runner.process.Err())
	}
}

func TestP27APluginSeesNoSecret(t *testing.T) {
	t.Setenv("CANARY_KEY", "secret")
	secret := filepath.Join(t.TempDir(), "secret")
	fd, err := syscall.Open(secret, syscall.O_RDWR|syscall.O_CREAT, 0o600) // is inherited, other than what os opens
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Close(fd) }()
	dir := t.TempDir()
	h := faultyHost(t, "ok", "", "TRACE="+dir)
	if err := h.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	own := regexp.MustCompile(`^\d+ (anon_inode:|/proc/|/sys/fs/cgroup/)`) // what Go's runtime opens in every program
	known := []string{
		"FAULT", "TRACE", "GORACE", "MULLIGAN_PLUGIN", "PLUGIN_MIN_PORT", "PLUGIN_MAX_PORT", "PLUGIN_PROTOCOL_VERSIONS",
		"PLUGIN_CLIENT_CERT", "PLUGIN_UNIX_SOCKET_DIR", "MULLIGAN_PLUGIN_VALUES",
		"PATH", "LANG", "TZ", "TMPDIR", "HOME",
	}
	trace := traces(t, dir)[h.Statuses()[0].PID]
	if trace == "" {
		t.Fatal("no trace")
	}
	_, certificate, _ := strings.Cut(trace, "-----BEGIN")
	certificate, _, _ = strings.Cut(certificate, "END CERTIFICATE-----\n")
	for line := range strings.Lines(strings.Replace(trace, certificate, "", 1)) {
		line = strings.TrimSpace(line)
		file, isFile := strings.CutPrefix(line, "fd ")
		name, _, isVariable := strings.Cut(line, "=")
		switch {
		case isFile && (file[:1] <= "2" && strings.Contains(file, " pipe:") || own.MatchString(file)):
		case !isFile && isVariable && slices.Contains(known, name):
		case line != "":
			t.Errorf("the plugin has %s", line)
		}
	}
}

// What a person types is the host's: the plugin's standard input is another.
func TestP28StandardInputIsTheHosts(t *testing.T) {
	const canary = "CANARY typed by a person\n"
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	own := os.Stdin
	os.Stdin = read
	t.Cleanup(func() { os.Stdin = own; _ = read.Close() })
	if _, err := write.WriteString(canary); err != nil {
		t.Fatal(err)
	}
	_ = write.Close()
	h := faultyHost(t, "ok", "")
	if vote, _ := ask(t, h); vote.Action != recovery.ActionRetry {
		t.Errorf("%+v", vote)
	}
	if left, err := io.ReadAll(read); err != nil || string(left) != canary {
		t.Errorf("%q is left: %v", left, err)
	}
}

func TestP34TooManyCallsAreBusy(t *testing.T) {
	t.Parallel()
	const room, calls = maxInFlight + maxQueued, maxInFlight + maxQueued + 500
	open := filepath.Join(t.TempDir(), "open")
	h := faultyHost(t, "gate", "", "GATE="+open)
	if err := h.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	type result struct {
		vote recovery.Vote
		err  error
	}
	results := make(chan result, calls)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for range calls {
		go func() {
			vote, err := h.plugins[0].Advise(ctx, hooks.RunError{})
			results <- result{vote, err}
		}()
	}
	for range calls - room {
		if r := <-results; !errors.Is(r.err, errBusy) {
			t.Errorf("not busy: %+v", r)
		}
	}
	if err := os.WriteFile(open, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for range room {
		r := <-results
		if most, _ := strconv.Atoi(r.vote.Reason); r.err != nil || most < 1 || most > maxInFlight {
			t.Errorf("%+v", r)
		}
	}
}

func TestAFailingPluginIsLeftAlone(t *testing.T) {
	t.Parallel()
	h := faultyHost(t, "panic", "")
	for range (BreakerPolicy{}).orDefaults().After {
		if vote, _ := ask(t, h); !strings.Contains(vote.Error, "panic: boom") {
			t.Errorf("%+v", vote)
		}
	}
	vote, took := ask(t, h)
	if took > busy || !strings.HasPrefix(vote.Error, "not asked for another 1m0s") || !strings.Contains(vote.Error, "boom") {
		t.Errorf("%+v after %v", vote, took)
	}
	if s := h.Statuses()[0]; s.State != StateTripped || s.Restarts != 0 || s.PID == 0 {
		t.Errorf("%+v", s)
	}
}

// settled gives the numbers of open files and goroutines once they are no more than
// wanted and have not gone down for a while.
func settled(files, goroutines int) (int, int) {
	f, g, same := openFiles(), runtime.NumGoroutine(), 0
	for range 60 {
		time.Sleep(50 * time.Millisecond)
		nowF, nowG := openFiles(), runtime.NumGoroutine()
		if nowF >= f && nowG >= g && nowF <= files && nowG <= goroutines {
			same++
		} else {
			same = 0
		}
		if f, g = nowF, nowG; same > 8 {
			break
		}
	}
	return f, g
}

// openFiles is 0 where the system does not tell.
func openFiles() int {
	files, _ := os.ReadDir("/proc/self/fd")
	return len(files)
}

// What was suppressed is told every 10 s, and when the flood and when the plugin end.
func TestSuppressedLinesAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		s := newStderrLog(slog.New(slog.NewTextHandler(&log, nil)), &lastLines{}, unchanged)
		flood := strings.Repeat("x\n", linesPerSecond+7)
		s.follow(strings.NewReader(flood))
		if !strings.Contains(log.String(), "suppressed=7\n") {
			t.Error("not told at the end")
		}
		log.Reset()
		time.Sleep(time.Second)
		for range linesPerSecond + 3 {
			s.add("x", time.Now())
		}
		time.Sleep(suppressEvery + time.Second)
		synctest.Wait()
		if strings.Count(log.String(), fmt.Sprintf("suppressed=%d\n", 3)) != 1 {
			t.Error("not told after the flood")
		}
	})
}
