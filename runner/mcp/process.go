package mcp

import (
	"context"
	"errors"
	"fmt"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mulligan-run/mulligan/internal/procgroup"
)

// keptStderr is how much of the end of a process's standard error is kept, in bytes.
const keptStderr = 4 << 10

// process is a server that was started here.
type process struct {
	*procgroup.Process
	stderr *procgroup.Tail
}

// startProcess starts a server's command, as soon as file descriptors are free for it.
func startProcess(ctx context.Context, spec Spec) (p *process, err error) {
	path, err := procgroup.LookUp(spec.Command[0], spec.Dir)
	if err != nil {
		return nil, fmt.Errorf("its command cannot be started: %w", err)
	}
	p = &process{stderr: procgroup.NewTail(keptStderr)}
	err = procgroup.Patiently(ctx, func() (err error) {
		p.Process, err = procgroup.Start(procgroup.Program{
			Path: path, Args: spec.Command, Dir: spec.Dir, Env: procgroup.Environment(spec.Env...), Stderr: p.stderr,
		})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("its command cannot be started: %w", err)
	}
	return p, nil
}

// transport speaks to the process.
func (p *process) transport(noise func([]byte)) sdk.Transport {
	return &sdk.IOTransport{Reader: newMessages(p.Stdout, noise), Writer: p.Stdin, MaxLineLength: -1}
}

// stop ends the process and its group: its standard input is closed, then it gets SIGTERM, and if
// it has not ended within the given time it is killed.
func (p *process) stop(within time.Duration) {
	_ = p.Stdin.Close()
	if !p.ends(within / 2) {
		p.End(within / 2)
	}
}

// ends reports whether the process ends within the given time; 0 asks whether it has ended.
func (p *process) ends(within time.Duration) bool { return procgroup.Within(p.Exited(), within) }

// how says how the process ended, and gives its last output.
func (p *process) how() error {
	text := "it closed its standard output"
	if p.ends(0) {
		text = "it ended (exit status 0)"
		if p.Err() != nil {
			text = fmt.Sprintf("it ended (%v)", p.Err())
		}
	}
	return p.explain(errors.New(text))
}

// explain adds the process's last output to err.
func (p *process) explain(err error) error {
	if said := lastSaid(p.stderr, 500); said != "" {
		return fmt.Errorf("%w; it said: %s", err, said)
	}
	return err
}
