package server

import (
	"context"
	"log/slog"

	"github.com/mulligan-run/mulligan/internal/exit"
	"github.com/mulligan-run/mulligan/provider"
	"github.com/mulligan-run/mulligan/runner"
)

// Driver makes a runner for runs that other processes began, with all tools and plugins
// that these runs may have. log is told what the runner and the programs behind models report.
// The caller closes the models.
func (srv *Server) Driver(ctx context.Context, log *slog.Logger, plugins []string, options ...runner.Option) (*runner.Runner, *Models, error) {
	if err := srv.Config.AddPlugins(plugins); err != nil {
		return nil, nil, exit.Usage(err)
	}
	models, err := NewModels(srv.Config, provider.WithLogger(log))
	if err != nil {
		return nil, nil, exit.Usage(err)
	}
	models.usual(srv.Config)
	tools, err := srv.Tools(models)
	if err != nil {
		models.Close()
		return nil, nil, err
	}
	known, err := srv.Health(ctx)
	if err == nil {
		err = srv.WarmPlugins(ctx) // a plugin that starts slowly must not delay anybody before it is asked
	}
	if err == nil {
		err = srv.startMCP(ctx)
	}
	if err != nil {
		models.Close()
		return nil, nil, err
	}
	options = append(options, runner.WithLogger(log), runner.WithTools(tools...), runner.WithToolsFrom(srv.mcpBeside(tools)))
	return srv.Runner(models, known, srv.Config.Model, srv.Config.Fallbacks, options...), models, nil
}
