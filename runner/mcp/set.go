package mcp

import (
	"context"
	"fmt"
	"log/slog"
	"sync"

	"github.com/mulligan-run/mulligan/runner"
)

// Set is a set of servers that are kept running until it is closed.
type Set struct {
	servers []*server
	cancel  context.CancelFunc
}

// Open starts the servers in parallel and waits until each runs or has failed to start, or until
// ctx ends. A server that does not start is not an error: it is logged, its [State] says why, and
// it is tried again; its tools appear once it runs. An invalid Spec is an error, and so are two
// servers with the same name. The logger may be nil.
func Open(ctx context.Context, specs []Spec, logger *slog.Logger) (*Set, error) {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	var servers []*server
	names := map[string]bool{}
	for _, spec := range specs {
		if err := spec.Check(); err != nil {
			return nil, err
		}
		if names[spec.Name] {
			return nil, fmt.Errorf("two MCP servers are called %q", spec.Name)
		}
		names[spec.Name] = true
		servers = append(servers, newServer(spec, usualPace, logger))
	}
	return open(ctx, servers)
}

func open(ctx context.Context, servers []*server) (*Set, error) {
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	set := &Set{servers: servers, cancel: cancel}
	for _, s := range servers {
		go s.supervise(life)
	}
	for _, s := range servers {
		select {
		case <-s.tried:
		case <-ctx.Done():
			set.Close()
			return nil, context.Cause(ctx)
		}
	}
	return set, nil
}

// Tools are the tools that the servers offer now, in the order of the servers. A server that is
// down offers what it last did. The returned list does not change.
func (s *Set) Tools() []runner.Tool {
	var all []runner.Tool
	for _, server := range s.servers {
		_, tools := server.snapshot()
		all = append(all, tools...)
	}
	return all
}

// States gives the state of each server, in order.
func (s *Set) States() []State {
	var all []State
	for _, server := range s.servers {
		state, _ := server.snapshot()
		all = append(all, state)
	}
	return all
}

// Close ends the servers, in parallel, within about 4 s. A process that does not end when its
// standard input is closed gets SIGTERM, and after 2 s SIGKILL. Calls in the air end with it.
func (s *Set) Close() {
	s.cancel()
	var all sync.WaitGroup
	for _, server := range s.servers {
		all.Go(func() { <-server.ended })
	}
	all.Wait()
}
