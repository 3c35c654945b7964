package mcp

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mulligan-run/mulligan/internal/procgroup"
)

// link is one connection to a server, from its start to its end.
type link struct {
	session *sdk.ClientSession
	process *process      // nil for a server that runs elsewhere
	failed  chan struct{} // closed when the link can no longer be used
	once    sync.Once
	err     error // why; valid once failed is closed
}

var errSilent = errors.New("it hangs: it gave no sign of life after a call that did not end")

// connect starts a server, or connects to it, and performs the handshake.
func (s *server) connect(ctx context.Context) (*link, error) {
	l := &link{failed: make(chan struct{})}
	transport, err := s.dial(ctx, l)
	if err != nil {
		return nil, err
	}
	ctx, refused := withRefusals(ctx)
	l.session, err = greet(ctx, s.client, transport)
	if err == nil {
		go l.watch()
		return l, nil
	}
	defer l.stop(s.pace.stop)
	switch why := refused.get().err; {
	case why != nil:
		return nil, why
	case ctx.Err() != nil:
		return nil, l.explain(fmt.Errorf("it did not answer in time (%w)", context.Cause(ctx)))
	case l.process != nil && l.process.ends(procgroup.PipeGrace):
		return nil, l.process.how()
	}
	return nil, l.explain(err)
}

// explain adds the last output of the process to err.
func (l *link) explain(err error) error {
	if l.process == nil {
		return err
	}
	return l.process.explain(err)
}

// stop ends a process, if there is one.
func (l *link) stop(within time.Duration) {
	if l.process != nil {
		l.process.stop(within)
	}
}

// greet is the SDK's Connect, which may wait longer than its context allows if the process reads
// nothing.
func greet(ctx context.Context, client *sdk.Client, transport sdk.Transport) (*sdk.ClientSession, error) {
	type greeted struct {
		session *sdk.ClientSession
		err     error
	}
	done := make(chan greeted, 1)
	go func() {
		session, err := client.Connect(ctx, transport, nil)
		done <- greeted{session, err}
	}()
	select {
	case g := <-done:
		return g.session, g.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// watch waits for the connection to end.
func (l *link) watch() {
	err := l.session.Wait()
	switch {
	case l.process != nil:
		l.process.ends(time.Second)
		err = l.process.how()
	case err == nil:
		err = errors.New("it closed the connection")
	}
	l.fail(err)
}

// fail marks the link as failed; the first reason counts.
func (l *link) fail(err error) {
	l.once.Do(func() {
		l.err = err
		close(l.failed)
	})
}

// over reports whether the link has failed.
func (l *link) over() bool {
	select {
	case <-l.failed:
		return true
	default:
		return false
	}
}

// probe checks, after a call that did not end, whether the server still answers; any answer will
// do.
func (l *link) probe(within time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	answered := make(chan error, 1)
	go func() { answered <- l.session.Ping(ctx, nil) }()
	select {
	case <-l.failed:
	case err := <-answered:
		if errors.Is(err, context.DeadlineExceeded) {
			l.fail(errSilent)
		}
	case <-ctx.Done():
		l.fail(errSilent)
	}
}

// close ends the connection, and the process with it.
func (l *link) close(within time.Duration) {
	l.fail(errors.New("it was closed"))
	l.stop(within)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = l.session.Close()
	}()
	select {
	case <-done:
	case <-time.After(within):
	}
}
