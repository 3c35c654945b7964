package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"time"
)

// line is a line that the demo printed, and when.
type line struct {
	at   time.Duration
	text string
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: cast MULLIGAN FILE.svg")
		os.Exit(2)
	}
	lines, err := record(context.Background(), os.Args[1], os.TempDir())
	if err == nil {
		err = os.WriteFile(os.Args[2], []byte(draw(lines)), 0o644) //nolint:gosec // it is published
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "cast:", err)
		os.Exit(1)
	}
}

// record runs the demo with its own state below dir, and returns its output up to the answer.
func record(ctx context.Context, mulligan, dir string) ([]line, error) {
	state, err := os.MkdirTemp(dir, "cast")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(state) }()
	cmd := exec.CommandContext(ctx, mulligan, "demo", "--state", state)
	cmd.Env = append(os.Environ(), "NO_COLOR=1", "LC_ALL=C.UTF-8", "MULLIGAN_DEBUG=")
	said, write := io.Pipe()
	cmd.Stdout, cmd.Stderr = write, write
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	begun := time.Now()
	go func() { _ = write.CloseWithError(cmd.Wait()) }()
	lines := []line{{0, "$ mulligan demo"}}
	enough := false
	scanner := bufio.NewScanner(said)
	for scanner.Scan() {
		enough = enough || strings.HasPrefix(scanner.Text(), "What happened")
		if !enough {
			lines = append(lines, line{time.Since(begun), settled(scanner.Text())})
		}
	}
	for len(lines) > 0 && lines[len(lines)-1].text == "" {
		lines = lines[:len(lines)-1]
	}
	if err := scanner.Err(); err != nil {
		return nil, fmt.Errorf("the demo: %w", err)
	}
	return lines, nil
}

var (
	port    = regexp.MustCompile(`127\.0\.0\.1:\d+`)
	process = regexp.MustCompile(`process \d+`)
	other   = regexp.MustCompile(`this one is \d+`)
	version = regexp.MustCompile(`auto-recover (\(devel\)|v?\d[^ ,]*)`)
	took    = regexp.MustCompile(`, \d+ ms\)`)
	pause   = regexp.MustCompile(`\b[4-6] s\b`) // including jitter
)

// settled replaces what differs from one run to the next.
func settled(text string) string {
	text = port.ReplaceAllString(text, "127.0.0.1:41000")
	text = process.ReplaceAllString(text, "process 4711")
	text = other.ReplaceAllString(text, "this one is 4702")
	text = took.ReplaceAllString(text, ")")
	text = pause.ReplaceAllString(text, "4 s")
	return version.ReplaceAllString(text, "auto-recover")
}
