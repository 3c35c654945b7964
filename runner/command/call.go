package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"github.com/mulligan-run/mulligan/internal/procgroup"
	"github.com/mulligan-run/mulligan/runner"
)

// maxTail is the most that an error tells of each of stderr and stdout, in bytes.
const maxTail = 8 << 10

// call runs the program once. It returns when nothing is left of it.
func (c *command) call(ctx context.Context, call runner.ToolCall) (string, error) {
	if err := context.Cause(ctx); err != nil {
		return "", fmt.Errorf("%s was not started: %w", c.Name, err)
	}
	var r *running
	err := procgroup.Patiently(ctx, func() (err error) {
		r, err = c.start(ctx, call)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("%s did not start: %w", c.Name, err)
	}
	if how := r.wait(ctx, c.Grace); how != ended {
		return "", fmt.Errorf("%s: %s; %w%s", c.Name, c.tell(how), runner.ErrOutcomeUnknown, c.said(r))
	}
	if problem := r.problem(); problem != "" {
		return "", fmt.Errorf("%s: %s%s", c.Name, problem, c.said(r))
	}
	return r.stdout.text(c.MaxOutput), nil
}

func (c *command) start(ctx context.Context, call runner.ToolCall) (*running, error) {
	// It is not the context that ends the process: it is ended in order, with its group.
	cmd := exec.CommandContext(context.WithoutCancel(ctx), c.path, c.Command[1:]...)
	cmd.Args[0] = c.Command[0]
	cmd.Dir, cmd.Env = c.Dir, c.environment(call)
	cmd.Stdin = strings.NewReader(cmp.Or(string(call.Args), "{}"))
	return start(cmd, newOutput(c.MaxOutput), newOutput(2*maxTail))
}

// tell says how a program ended that was stopped.
func (c *command) tell(how ending) string {
	switch how {
	case survived:
		return "it was stopped, and a process of it cannot be killed"
	case killed:
		return fmt.Sprintf("it was stopped, did not end within %v and was killed", c.Grace)
	}
	return "it was stopped"
}

// problem says why a program that has ended by itself has no result; "" = it has one.
func (r *running) problem() string {
	exit := (*exec.ExitError)(nil)
	switch {
	case errors.As(r.err, &exit) && exit.Exited():
		return fmt.Sprintf("it failed with exit code %d", exit.ExitCode())
	case r.err != nil && !errors.Is(r.err, exec.ErrWaitDelay):
		return "it ended badly: " + r.err.Error()
	}
	return ""
}

// said is what the program said last, for the model to make something of.
func (c *command) said(r *running) string {
	var b strings.Builder
	most := min(maxTail, c.MaxOutput/4)
	for _, said := range []struct{ name, text string }{{"stderr", r.stderr.last(most)}, {"stdout", r.stdout.last(most)}} {
		if text := strings.TrimSpace(said.text); text != "" {
			fmt.Fprintf(&b, "\n%s:\n%s", said.name, text)
		}
	}
	return b.String()
}
