package server

import (
	"context"
	"log/slog"
	"maps"
	"os"
	"slices"
	"time"

	"go.opentelemetry.io/otel"

	"github.com/mulligan-run/mulligan/config"
	"github.com/mulligan-run/mulligan/internal/build"
	"github.com/mulligan-run/mulligan/internal/terminal"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/telemetry"
)

// otlpEndpoints are the variables that turn on sending telemetry, if any of them is
// set.
var otlpEndpoints = []string{"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT"}

// exports reports whether the environment asks for telemetry to be sent.
func exports(env func(string) string) bool {
	return env("OTEL_SDK_DISABLED") != "true" && slices.ContainsFunc(otlpEndpoints, func(name string) bool { return env(name) != "" })
}

// Observed are a runner's options for measuring its runs; none if nobody reads the result.
// served says that metrics are served at /metrics; log gets what cannot be sent.
func (srv *Server) Observed(ctx context.Context, served bool, log *slog.Logger) []runner.Option {
	sent := exports(os.Getenv)
	if !served && !sent {
		return nil
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.Warn("telemetry", "err", err) }))
	t, err := telemetry.New(ctx, telemetry.Config{
		Version: build.Version(), Models: modelNames(srv.Config), Plugins: srv.pluginStates, Log: srv.Log, Prometheus: served, OTLP: sent,
	})
	if err != nil {
		srv.Screen.Line("mulligan: " + terminal.OneLine(err.Error()) + "; nothing is measured")
		return nil
	}
	srv.telemetry = t
	return []runner.Option{runner.WithObserver(t)}
}

// closeTelemetry sends what is left, if that does not take long.
func (srv *Server) closeTelemetry() {
	const most = 2 * time.Second
	if srv.telemetry == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), most)
	defer cancel()
	if err := srv.telemetry.Close(ctx); err != nil {
		srv.Logger().Warn("telemetry", "err", err)
	}
}

func (srv *Server) pluginStates() []telemetry.Plugin {
	if srv.Plugins == nil {
		return nil
	}
	var list []telemetry.Plugin
	for _, st := range srv.Plugins.Statuses() {
		list = append(list, telemetry.Plugin{Name: st.Name, State: string(st.State)})
	}
	return list
}

// modelNames are the models that somebody chose or described, and the usual ones.
func modelNames(c *config.Config) []string {
	names := append([]string{DemoFable, DemoAtlas, c.Model}, c.Fallbacks...)
	for _, entry := range slices.Sorted(maps.Keys(c.Providers)) {
		for _, name := range slices.Sorted(maps.Keys(c.Providers[entry].Models)) {
			names = append(names, entry+"/"+name)
		}
	}
	for _, usual := range usualModels {
		names = append(names, usual.model)
	}
	return names
}
