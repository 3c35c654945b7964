package server

import (
	"context"
	"iter"
	"time"

	"github.com/mulligan-run/mulligan/gateway"
	"github.com/mulligan-run/mulligan/internal/build"
	"github.com/mulligan-run/mulligan/mcpserver"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/timeline"
)

// ServeMCP offers runs as a tool to an MCP client on standard input and output, until it
// disconnects or ctx ends. Runs in progress are then released.
func (srv *Server) ServeMCP(ctx context.Context) error {
	s, leave, err := srv.doorRuns(ctx)
	if err != nil {
		return err
	}
	defer leave()
	return mcpserver.Serve(ctx, mcpRuns{s}, build.Version(), mcpserver.Stdio())
}

// doorRuns are the runs of a client on standard input and output; leave releases those in
// progress.
func (srv *Server) doorRuns(ctx context.Context) (s *Runs, leave func(), err error) {
	r, models, err := srv.Driver(ctx, srv.Logger(), nil)
	if err != nil {
		return nil, nil, err
	}
	known, err := srv.Health(ctx)
	if err != nil {
		models.Close()
		return nil, nil, err
	}
	work, letGo := context.WithCancelCause(context.WithoutCancel(ctx))
	leave = func() {
		letGo(runner.ErrLetGo)
		const most = 8 * time.Second
		left, stop := context.WithTimeout(context.WithoutCancel(ctx), most)
		defer stop()
		_ = r.Drain(left) // what is not released by then is claimed later, as after a crash
		models.Close()
	}
	return &Runs{app: srv, runner: r, models: models, known: known, work: work, began: func(*runner.Run) {}}, leave, nil
}

// mcpRuns implements mcpserver.Runs.
type mcpRuns struct{ *Runs }

// Start implements mcpserver.Runs.
func (s mcpRuns) Start(ctx context.Context, r mcpserver.Request) (string, error) {
	return s.Runs.Start(ctx, gateway.Start{Prompt: r.Prompt, Model: r.Model, Session: r.Session, AutoRecover: r.AutoRecover})
}

// Follow implements mcpserver.Runs.
func (s mcpRuns) Follow(ctx context.Context, run string, after uint64) iter.Seq2[timeline.Item, error] {
	return s.app.Log.Follow(ctx, run, after)
}

// Recover implements mcpserver.Runs.
func (s mcpRuns) Recover(ctx context.Context, run, suggestion, action string) error {
	return s.Runs.Recover(ctx, run, gateway.Answer{Suggestion: suggestion, Action: action})
}
