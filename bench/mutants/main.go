package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"time"

	"github.com/mulligan-run/mulligan/bench/internal/tree"
)

// timeout bounds one test; a mutant that makes its test hang does not count as killed.
const timeout = 10 * time.Minute

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, "..", os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

// run kills the mutants of the repository at root, and prints a line for each.
func run(ctx context.Context, root string, prefixes []string) (err error) {
	mutants, err := load(root, prefixes)
	if err != nil {
		return err
	}
	copied, err := tree.Copy(ctx, root, "mutants-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, copied.Remove()) }()
	if err := sound(ctx, copied, mutants); err != nil {
		return err
	}
	var alive []string
	for _, m := range mutants {
		began := time.Now()
		word := "killed"
		if err := kill(ctx, copied, m); err != nil {
			word = "ALIVE"
			alive = append(alive, m.name+": "+err.Error())
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		fmt.Printf("%-36s %-7s %4.0f s  %s\n", m.name, word, time.Since(began).Seconds(), m.what)
	}
	if len(alive) > 0 {
		return fmt.Errorf("%d of %d are alive:\n%s", len(alive), len(mutants), strings.Join(alive, "\n"))
	}
	fmt.Printf("all %d are killed\n", len(mutants))
	return nil
}

// sound runs every test once without a mutant, because a test that fails anyway proves nothing.
func sound(ctx context.Context, t *tree.Tree, mutants []mutant) error {
	seen := map[string]bool{}
	for _, m := range mutants {
		line := strings.Join(append(m.args, m.env...), " ")
		if seen[line] {
			continue
		}
		seen[line] = true
		if out, err := test(ctx, t, m); err != nil {
			return fmt.Errorf("go %s fails without any mutant: %w\n%s", line, err, tail(out))
		}
	}
	return nil
}

// test runs a mutant's test.
func test(ctx context.Context, t *tree.Tree, m mutant) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", m.args...) //nolint:gosec // a test of the repository
	cmd.Dir, cmd.Env = t.Dir, append(os.Environ(), m.env...)
	cmd.WaitDelay = time.Second
	return cmd.CombinedOutput()
}

// kill applies the mutant, runs its test, and reverts the patch. The error says why the
// mutant survives.
func kill(ctx context.Context, t *tree.Tree, m mutant) (err error) {
	if err := t.Apply(ctx, m.path); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.Apply(context.WithoutCancel(ctx), m.path, "-R")) }()
	out, testErr := test(ctx, t, m)
	switch {
	case testErr == nil:
		return errors.New("its test passes")
	case bytes.Contains(out, []byte("[build failed]")) || bytes.Contains(out, []byte("[setup failed]")):
		return errors.New("it does not compile:\n" + tail(out))
	case !bytes.Contains(out, []byte(m.id+": ")) && !bytes.Contains(out, []byte("--- FAIL: Test"+m.id)):
		return errors.New("its test fails and does not name " + m.id + ":\n" + tail(out))
	}
	return nil
}

// tail is the end of an output.
func tail(out []byte) string {
	const most = 2000
	return string(out[max(0, len(out)-most):])
}
