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

// maxTail is how much of stderr, and of stdout, an error quotes at most, in bytes.
const maxTail = 8 << 10

// called is a program that was started for a call.
type called struct {
	process        *procgroup.Process
	stdout, stderr *output
}

// call runs the program once. It returns when none of its processes is left.
func (c *command) call(ctx context.Context, call runner.ToolCall) (string, error) {
	if err := context.Cause(ctx); err != nil {
		return "", fmt.Errorf("%s was not started: %w", c.Name, err)
	}
	var r called
	err := procgroup.Patiently(ctx, func() (err error) {
		r, err = c.start(call)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("%s did not start: %w", c.Name, err)
	}
	if how := r.process.Wait(ctx, c.Grace); how != procgroup.Ended {
		return "", fmt.Errorf("%s: %s; %w%s", c.Name, c.tell(how), runner.ErrOutcomeUnknown, c.said(r))
	}
	if problem := problem(r.process.Err()); problem != "" {
		return "", fmt.Errorf("%s: %s%s", c.Name, problem, c.said(r))
	}
	return r.stdout.text(c.MaxOutput), nil
}

func (c *command) start(call runner.ToolCall) (called, error) {
	r := called{stdout: newOutput(c.MaxOutput), stderr: newOutput(2 * maxTail)}
	var err error
	r.process, err = procgroup.Start(procgroup.Program{
		Path: c.path, Args: c.Command, Dir: c.Dir, Env: c.environment(call),
		Stdin: strings.NewReader(cmp.Or(string(call.Args), "{}")), Stdout: r.stdout, Stderr: r.stderr,
	})
	return r, err
}

// tell says how a program that was stopped ended.
func (c *command) tell(how procgroup.Ending) string {
	switch how {
	case procgroup.Survived:
		return "it was stopped, and a process of it cannot be killed"
	case procgroup.Killed:
		return fmt.Sprintf("it was stopped, did not end within %v and was killed", c.Grace)
	}
	return "it was stopped"
}

// problem says why a program that ended by itself has no result; "" = it has one.
func problem(err error) string {
	exit := (*exec.ExitError)(nil)
	switch {
	case errors.As(err, &exit) && exit.Exited():
		return fmt.Sprintf("it failed with exit code %d", exit.ExitCode())
	case err != nil:
		return "it ended badly: " + err.Error()
	}
	return ""
}

// said is the end of the program's output, for the model to interpret.
func (c *command) said(r called) string {
	var b strings.Builder
	most := min(maxTail, c.MaxOutput/4)
	for _, said := range []struct{ name, text string }{{"stderr", r.stderr.last(most)}, {"stdout", r.stdout.last(most)}} {
		if text := strings.TrimSpace(said.text); text != "" {
			fmt.Fprintf(&b, "\n%s:\n%s", said.name, text)
		}
	}
	return b.String()
}
