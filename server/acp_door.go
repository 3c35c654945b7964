package server

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/mulligan-run/mulligan/acp"
	"github.com/mulligan-run/mulligan/gateway"
	"github.com/mulligan-run/mulligan/internal/build"
	"github.com/mulligan-run/mulligan/runner"
)

// ServeACP serves a client of the Agent Client Protocol that reads from w and writes to r, until
// it disconnects or ctx ends. Runs in progress are then released.
func (srv *Server) ServeACP(ctx context.Context, w io.Writer, r io.Reader) error {
	s, leave, err := srv.doorRuns(ctx)
	if err != nil {
		return err
	}
	defer leave()
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	return acp.Serve(ctx, acp.Config{
		Runs: acpRuns{s}, Log: srv.Log, Models: s.acpModels, AutoRecover: srv.Config.AutoRecover, Dir: dir, Version: build.Version(),
	}, w, r)
}

// acpRuns implements acp.Runs.
type acpRuns struct{ *Runs }

// Start implements acp.Runs.
func (s acpRuns) Start(ctx context.Context, session, prompt string) (string, error) {
	id, err := s.Runs.Start(ctx, gateway.Start{Prompt: prompt, Session: session})
	if errors.Is(err, gateway.ErrBusy) {
		return "", acp.ErrBusy
	}
	return id, err
}

// Resume implements acp.Runs.
func (s acpRuns) Resume(_ context.Context, run string) error {
	resumed, err := s.runner.Resume(s.work, run)
	if err == nil {
		s.began(resumed)
	}
	return err
}

// Recover implements acp.Runs.
func (s acpRuns) Recover(ctx context.Context, run, suggestion, action string) error {
	return s.Runs.Recover(ctx, run, gateway.Answer{Suggestion: suggestion, Action: action})
}

// Cancel implements acp.Runs.
func (s acpRuns) Cancel(ctx context.Context, run string) error {
	if err := s.Runs.Cancel(ctx, run); err != nil && !errors.Is(err, runner.ErrSent) {
		return err
	}
	return nil
}

// acpModels are the models that can be asked, for acp.
func (s *Runs) acpModels() []acp.Model {
	var list []acp.Model
	for _, m := range s.listModels() {
		if m.Ready || m.Default {
			list = append(list, acp.Model{Name: m.Name, Default: m.Default, ContextTokens: int(m.ContextTokens)})
		}
	}
	return list
}
