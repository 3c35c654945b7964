package telemetry

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	otelprometheus "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/mulligan-run/mulligan/timeline"
)

// scope is OpenTelemetry's instrumentation scope.
const scope = "github.com/mulligan-run/mulligan"

// Config says what is measured and where it goes.
type Config struct {
	Version string
	Models  []string        // full names of models with labels of their own
	Plugins func() []Plugin // nil = none
	Log     timeline.Log    // its open suggestions are counted; nil = none

	Prometheus bool // Handler serves the metrics
	// OTLP sends traces and metrics over HTTP to the address in the environment, in
	// OTEL_EXPORTER_OTLP_ENDPOINT and the like: see OpenTelemetry's documentation.
	OTLP bool
	// Spans, if not nil, also gets the traces; Close shuts it down.
	Spans sdktrace.SpanExporter

	Now func() time.Time // nil = the system's clock
}

// Telemetry measures runs. It is safe for concurrent use.
type Telemetry struct {
	now     func() time.Time
	meters  *meters
	metrics *sdkmetric.MeterProvider
	tracer  trace.Tracer
	traces  *sdktrace.TracerProvider // nil = no traces
	handler http.Handler
	models  modelNames
	plugins *firstNames
	labels  *labelSets

	mu     sync.Mutex
	driven map[string]*runTrace // by run
}

// New makes a Telemetry. It does not connect yet, and fails only if the environment has an
// invalid setting.
func New(ctx context.Context, cfg Config) (*Telemetry, error) {
	t := &Telemetry{
		now: cfg.Now, models: modelNames{}, plugins: &firstNames{most: maxPlugins, names: map[string]bool{}},
		labels: &labelSets{made: map[[maxLabels]attribute.KeyValue]metric.MeasurementOption{}},
		driven: map[string]*runTrace{}, tracer: noop.NewTracerProvider().Tracer(scope), handler: http.NotFoundHandler(),
	}
	if t.now == nil {
		t.now = time.Now
	}
	for _, name := range cfg.Models {
		t.models[name] = true
	}
	about, err := resource.New(ctx, resource.WithTelemetrySDK(),
		resource.WithAttributes(attribute.String("service.name", "mulligan"), attribute.String("service.version", cfg.Version)),
		resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("telemetry: OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	if err := t.openMetrics(ctx, cfg, about); err != nil {
		return nil, fmt.Errorf("telemetry: %w", err)
	}
	if err := t.openTraces(ctx, cfg, about); err != nil {
		return nil, errors.Join(fmt.Errorf("telemetry: %w", err), t.metrics.Shutdown(ctx))
	}
	return t, nil
}

func (t *Telemetry) openMetrics(ctx context.Context, cfg Config, about *resource.Resource) error {
	options := []sdkmetric.Option{sdkmetric.WithResource(about)}
	if cfg.Prometheus {
		registry := prometheus.NewRegistry()
		reader, err := otelprometheus.New(otelprometheus.WithRegisterer(registry), otelprometheus.WithoutScopeInfo(), otelprometheus.WithoutTargetInfo())
		if err != nil {
			return err
		}
		registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
		t.handler = promhttp.HandlerFor(registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError})
		options = append(options, sdkmetric.WithReader(reader))
	}
	if cfg.OTLP {
		exporter, err := otlpmetrichttp.New(ctx)
		if err != nil {
			return err
		}
		options = append(options, sdkmetric.WithReader(sdkmetric.NewPeriodicReader(exporter)))
	}
	t.metrics = sdkmetric.NewMeterProvider(options...)
	meter := t.metrics.Meter(scope)
	var err error
	if t.meters, err = newMeters(meter); err != nil {
		return err
	}
	if cfg.Plugins != nil {
		err = t.watchPlugins(meter, cfg.Plugins)
	}
	if cfg.Log != nil {
		err = errors.Join(err, t.watchSuggestions(meter, cfg.Log))
	}
	return err
}

func (t *Telemetry) openTraces(ctx context.Context, cfg Config, about *resource.Resource) error {
	options := []sdktrace.TracerProviderOption{sdktrace.WithResource(about), sdktrace.WithIDGenerator(ids{})}
	if cfg.Spans != nil {
		options = append(options, sdktrace.WithSpanProcessor(newQueue(cfg.Spans, t.meters.dropped)))
	}
	if cfg.OTLP {
		exporter, err := otlptracehttp.New(ctx)
		if err != nil {
			return err
		}
		options = append(options, sdktrace.WithSpanProcessor(newQueue(exporter, t.meters.dropped)))
	}
	if cfg.OTLP || cfg.Spans != nil {
		t.traces = sdktrace.NewTracerProvider(options...)
		t.tracer = t.traces.Tracer(scope)
	}
	return nil
}

// Handler serves the metrics in Prometheus' format, with those of the Go runtime and of the
// process; an empty answer if Config.Prometheus is not set.
func (t *Telemetry) Handler() http.Handler { return t.handler }

// Close sends what is left, until ctx ends. Runs must not be driven any more.
func (t *Telemetry) Close(ctx context.Context) error {
	var err error
	if t.traces != nil {
		err = t.traces.Shutdown(ctx)
	}
	return errors.Join(err, t.metrics.Shutdown(ctx))
}
