package main

import (
	"context"
	"log/slog"
	"maps"
	"os"
	"slices"
	"time"

	"go.opentelemetry.io/otel"

	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/telemetry"
)

// otlpEndpoints are the variables of which one is enough to send telemetry somewhere.
var otlpEndpoints = []string{"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT"}

// exports reports whether the environment wants telemetry to be sent.
func exports(env func(string) string) bool {
	return env("OTEL_SDK_DISABLED") != "true" && slices.ContainsFunc(otlpEndpoints, func(name string) bool { return env(name) != "" })
}

// observed are the options of a runner whose runs are measured; none where nobody would
// see it. served says that metrics are served at /metrics; log is told of what cannot be sent.
func (a *app) observed(ctx context.Context, served bool, log *slog.Logger) []runner.Option {
	sent := exports(os.Getenv)
	if !served && !sent {
		return nil
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.Warn("telemetry", "err", err) }))
	t, err := telemetry.New(ctx, telemetry.Config{
		Version: version(), Models: a.config.modelNames(), Plugins: a.pluginStates, Log: a.log, Prometheus: served, OTLP: sent,
	})
	if err != nil {
		a.screen.line("mulligan: " + oneLine(err.Error()) + "; nothing is measured")
		return nil
	}
	a.telemetry = t
	return []runner.Option{runner.WithObserver(t)}
}

// closeTelemetry sends what is left, if that is soon done.
func (a *app) closeTelemetry() {
	const most = 2 * time.Second
	if a.telemetry == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), most)
	defer cancel()
	if err := a.telemetry.Close(ctx); err != nil {
		a.logger().Warn("telemetry", "err", err)
	}
}

func (a *app) pluginStates() []telemetry.Plugin {
	if a.plugins == nil {
		return nil
	}
	var list []telemetry.Plugin
	for _, st := range a.plugins.Statuses() {
		list = append(list, telemetry.Plugin{Name: st.Name, State: string(st.State)})
	}
	return list
}

// modelNames are the models that somebody chose or described, and those that are usual.
func (c *config) modelNames() []string {
	names := append([]string{demoFable, demoAtlas, c.Model}, c.Fallbacks...)
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
