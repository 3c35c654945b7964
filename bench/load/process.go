package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// child is a process that this one started.
type child struct {
	cmd   *exec.Cmd
	stdin io.Closer
	name  string
}

// start starts a program and reads its output line by line until ready accepts a line. Of
// its later output only the first errors are shown.
func start(ctx context.Context, name string, cmd *exec.Cmd, ready func(line string) (string, bool)) (*child, string, error) {
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, "", err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, "", err
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return nil, "", fmt.Errorf("the %s does not start: %w", name, err)
	}
	c := &child{cmd: cmd, stdin: stdin, name: name}
	found := make(chan string, 1)
	go func() {
		lines := bufio.NewScanner(stdout)
		for told := 0; lines.Scan(); {
			if it, ok := ready(lines.Text()); ok {
				found <- it
				ready = func(string) (string, bool) { return "", false }
			}
			if told < mostWrong && strings.Contains(lines.Text(), `"level":"ERROR"`) {
				fmt.Fprintln(os.Stderr, lines.Text())
				told++
			}
		}
		_, _ = io.Copy(io.Discard, stdout) // a line was too long
	}()
	select {
	case it := <-found:
		return c, it, nil
	case <-ctx.Done():
		err = ctx.Err()
	case <-time.After(time.Minute):
		err = errors.New("it is not ready after a minute")
	}
	return nil, "", fmt.Errorf("the %s: %w", name, errors.Join(err, c.stop()))
}

// stop asks the process to end as a service manager does, and kills it if that takes long.
func (c *child) stop() error {
	_ = c.stdin.Close()
	_ = c.cmd.Process.Signal(syscall.SIGTERM)
	defer time.AfterFunc(20*time.Second, func() { _ = c.cmd.Process.Kill() }).Stop()
	if err := c.cmd.Wait(); err != nil && c.name != roleProvider {
		return fmt.Errorf("the %s ended badly: %w", c.name, err)
	}
	return nil
}

// kill ends the process as a crash would.
func (c *child) kill() {
	_ = c.cmd.Process.Kill()
	_ = c.cmd.Wait() // it was killed, so an error is expected
	_ = c.stdin.Close()
}

// startProvider starts this program again as the provider, and returns its address.
func startProvider(ctx context.Context, args []string) (*child, string, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, "", err
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), exe, append([]string{roleProvider}, args...)...)
	return start(ctx, roleProvider, cmd, func(line string) (string, bool) { return line, strings.HasPrefix(line, "http://") })
}
