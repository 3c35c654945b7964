package conformance

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Command says how a plugin is started and configured.
type Command struct {
	Args []string // the executable and its arguments; no shell
	Dir  string   // where it runs; "" = here
	Env  []string // KEY=VALUE, beside what a host gives every plugin

	Config []byte // JSON, for checks and questions that need a configured plugin; nil = none
}

// What a host gives every plugin.
const cookie = "MULLIGAN_PLUGIN=4b3f6c1e-run-error"

var inherited = []string{"PATH", "LANG", "TZ", "TMPDIR", "HOME"}

// Bounds of a process, by docs/plugin-protocol.md.
const (
	startWithin    = 10 * time.Second
	shutdownWithin = time.Second
	lifeWithin     = 2 * time.Second
	parentWithin   = 3 * time.Second // 2 s, and a second since it is looked at once a second
)

// slack stretches every bound: 1, and more in tests, which start many programs at once on
// machines that are busy.
var slack time.Duration = 1

// process is one start of a command. Its end is the end of its standard output: it
// may be a child of what was started.
type process struct {
	cmd    *exec.Cmd
	stdin  *os.File
	stdout *bufio.Reader
	stderr *collected
	ended  chan struct{} // standard output is over; rest is valid from then on
	rest   string        // what standard output held beside the handshake line
	folder string        // of the socket
}

// launch starts a command with the variables given and a folder for its socket.
func launch(c Command, env ...string) (*process, error) {
	folder, err := os.MkdirTemp("/tmp", "conform") // a short path, whatever TMPDIR is
	if err != nil {
		return nil, err
	}
	kept := filepath.Join(folder, "kept")
	if err := os.Mkdir(kept, 0o700); err != nil {
		return nil, errors.Join(err, os.RemoveAll(folder))
	}
	cmd := exec.Command(c.Args[0], c.Args[1:]...) //nolint:noctx // killed as a group, by end
	cmd.Dir = c.Dir
	cmd.Env = slices.Concat(hostEnvironment(), c.Env, []string{
		"PLUGIN_UNIX_SOCKET_DIR=" + folder, "XDG_STATE_HOME=" + filepath.Join(folder, "state"), "MULLIGAN_PLUGIN_STATE=" + kept, "MULLIGAN_DRY_RUN=1",
	}, env)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p := &process{cmd: cmd, stderr: &collected{}, ended: make(chan struct{}), folder: folder}
	if err := p.start(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(folder))
	}
	return p, nil
}

func hostEnvironment() []string {
	env := []string{"PLUGIN_MIN_PORT=10000", "PLUGIN_MAX_PORT=25000"}
	for _, key := range inherited {
		if value, ok := os.LookupEnv(key); ok {
			env = append(env, key+"="+value)
		}
	}
	return env
}

func (p *process) start() error {
	stdin, life, err := os.Pipe()
	if err != nil {
		return err
	}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	p.cmd.Stdin, p.cmd.Stderr, p.stdin, p.stdout = stdin, p.stderr, life, bufio.NewReaderSize(stdout, maxLine+1)
	p.cmd.WaitDelay = time.Second // for whoever holds its standard error
	err = p.cmd.Start()
	_ = stdin.Close()
	if err != nil {
		_ = life.Close()
	}
	return err
}

// firstLine waits for the handshake line, and follows the rest from then on.
func (p *process) firstLine(ctx context.Context) (string, error) {
	lines := make(chan string, 1)
	go func() {
		defer close(p.ended)
		line, _ := p.stdout.ReadSlice('\n')
		lines <- string(line)
		rest, _ := io.ReadAll(io.LimitReader(p.stdout, 4<<10))
		p.rest = string(rest)
		_, _ = io.Copy(io.Discard, p.stdout)
	}()
	ctx, cancel := context.WithTimeout(ctx, slack*startWithin)
	defer cancel()
	select {
	case line := <-lines:
		return line, nil
	case <-ctx.Done():
		return "", fmt.Errorf("no handshake line: %w; standard error: %s", ctx.Err(), p.stderr.tail())
	}
}

// over reports whether standard output ends within the given time.
func (p *process) over(within time.Duration) bool {
	select {
	case <-p.ended:
		return true
	case <-time.After(within):
		return false
	}
}

// status waits for the process's end and gives its exit status, -1 for a signal.
func (p *process) status() int {
	_ = p.cmd.Wait()
	return p.cmd.ProcessState.ExitCode()
}

// end kills what is left of the process's group.
func (p *process) end() {
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
	if p.cmd.ProcessState == nil {
		_ = p.cmd.Wait()
	}
	_ = p.stdin.Close()
	_ = os.RemoveAll(p.folder)
}

// collected keeps the first MiB that is written to it, and measures all of it.
type collected struct {
	mu   sync.Mutex
	text strings.Builder

	size, lines   int // bytes, and the ends of lines
	line, longest int // bytes of the line that is not ended, and of the longest one
}

func (c *collected) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.text.Len() < 1<<20 {
		c.text.Write(b)
	}
	c.size += len(b)
	for part := range bytes.Lines(b) {
		c.line += len(part)
		c.longest = max(c.longest, c.line)
		if bytes.HasSuffix(part, []byte("\n")) {
			c.lines++
			c.line = 0
		}
	}
	return len(b), nil
}

func (c *collected) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.String()
}

func (c *collected) tail() string {
	text := c.String()
	return strings.ToValidUTF8(text[max(0, len(text)-500):], "")
}
