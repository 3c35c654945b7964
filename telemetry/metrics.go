package telemetry

import (
	"context"
	"errors"
	"slices"
	"time"

	"go.opentelemetry.io/otel/metric"

	"github.com/mulligan-run/mulligan/timeline"
)

// Bounds of the histograms' buckets, in seconds.
var (
	attemptBuckets = []float64{.1, .25, .5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600, 1800}
	firstBuckets   = []float64{.05, .1, .25, .5, 1, 2, 3, 5, 10, 20, 30, 60, 120, 300}
	hookBuckets    = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2, 5}
	toolBuckets    = []float64{.01, .05, .1, .5, 1, 5, 10, 30, 60, 120, 300, 600}
	waitBuckets    = []float64{.25, .5, 1, 2, 5, 10, 20, 30, 60, 300, 1800, 3600, 6 * 3600, 24 * 3600}
	pauseBuckets   = []float64{.1, .5, 1, 2, 5, 10, 30, 60, 300, 1800, 3600}
)

// meters are the instruments. Their names, units and labels stand in
// docs/observability.md.
type meters struct {
	started, resumed, recovered, ended metric.Int64Counter
	driven                             metric.Int64UpDownCounter

	attempts       metric.Int64Counter
	attemptTook    metric.Float64Histogram
	firstEvent     metric.Float64Histogram
	tokens, wasted metric.Int64Counter
	cost           metric.Float64Counter
	hookTook       metric.Float64Histogram
	decisions      metric.Int64Counter
	toolTook       metric.Float64Histogram
	waited         metric.Float64Histogram
	offered        metric.Int64Counter
	answered       metric.Int64Counter
	storePaused    metric.Float64Histogram
	followers      metric.Int64UpDownCounter
	dropped        metric.Int64Counter
}

// maker makes instruments and collects errors.
type maker struct {
	metric.Meter
	errs []error
}

func (m *maker) note(err error) {
	if err != nil {
		m.errs = append(m.errs, err)
	}
}

func (m *maker) counter(name, unit, what string) metric.Int64Counter {
	c, err := m.Int64Counter(name, metric.WithUnit(unit), metric.WithDescription(what))
	m.note(err)
	return c
}

func (m *maker) upDown(name, unit, what string) metric.Int64UpDownCounter {
	c, err := m.Int64UpDownCounter(name, metric.WithUnit(unit), metric.WithDescription(what))
	m.note(err)
	return c
}

func (m *maker) seconds(name, what string, buckets []float64) metric.Float64Histogram {
	h, err := m.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(what), metric.WithExplicitBucketBoundaries(buckets...))
	m.note(err)
	return h
}

func newMeters(meter metric.Meter) (*meters, error) {
	m := &maker{Meter: meter}
	cost, err := meter.Float64Counter("mulligan.cost.usd", metric.WithDescription("What calls cost, as far as their models have a price, in US dollars."))
	m.note(err)
	return &meters{
		started:     m.counter("mulligan.runs.started", "{run}", "Runs that began."),
		resumed:     m.counter("mulligan.runs.resumed", "{run}", "Times that a run was gone on with after it was left: its time had come, a person answered, or its process died."),
		recovered:   m.counter("mulligan.runs.recovered", "{run}", "Runs that were completed although an attempt of theirs had failed."),
		ended:       m.counter("mulligan.runs.ended", "{run}", "Runs that ended for good."),
		driven:      m.upDown("mulligan.runs.driven", "{run}", "Runs that this process drives now."),
		attempts:    m.counter("mulligan.attempts", "{attempt}", "Model calls that are over."),
		attemptTook: m.seconds("mulligan.attempt.duration", "How long model calls took.", attemptBuckets),
		firstEvent:  m.seconds("mulligan.attempt.first_event", "From sending a model call that was answered to its first event.", firstBuckets),
		tokens:      m.counter("mulligan.tokens", "{token}", "Tokens that were used."),
		wasted:      m.counter("mulligan.tokens.wasted", "{token}", "Tokens of them that attempts used which failed."),
		cost:        cost,
		hookTook:    m.seconds("mulligan.hook.duration", "How long plugins took to vote.", hookBuckets),
		decisions:   m.counter("mulligan.decisions", "{decision}", "Decisions about failures, by the plugin whose vote won."),
		toolTook:    m.seconds("mulligan.tool.duration", "How long tool calls took.", toolBuckets),
		waited:      m.seconds("mulligan.wait.duration", "How long runs waited on purpose.", waitBuckets),
		offered:     m.counter("mulligan.suggestions.offered", "{suggestion}", "Suggestions that people could answer."),
		answered:    m.counter("mulligan.suggestions.answered", "{suggestion}", "Answers of people, to suggestions and to live waits."),
		storePaused: m.seconds("mulligan.store.pause.duration", "How long runs waited for their store.", pauseBuckets),
		followers:   m.upDown("mulligan.followers", "{follower}", "Clients that follow a run now."),
		dropped:     m.counter("mulligan.telemetry.spans.dropped", "{span}", "Spans that were not exported."),
	}, errors.Join(m.errs...)
}

// Plugin is the state of a plugin.
type Plugin struct {
	Name, State string
}

// gauge registers a value that is looked up whenever metrics are read.
func gauge(meter metric.Meter, name, unit, what string, read metric.Int64Callback) error {
	_, err := meter.Int64ObservableGauge(name, metric.WithUnit(unit), metric.WithDescription(what), metric.WithInt64Callback(read))
	return err
}

func (t *Telemetry) watchPlugins(meter metric.Meter, plugins func() []Plugin) error {
	return gauge(meter, "mulligan.plugin.state", "{plugin}", "1 for the state that a plugin is in.",
		func(_ context.Context, o metric.Int64Observer) error {
			for _, p := range plugins() {
				o.Observe(1, t.labels.of(labelPlugin.String(t.plugins.of(p.Name)), labelState.String(p.State)))
			}
			return nil
		})
}

const (
	maxOpen      = 1000            // open suggestions that are counted, at most
	listPatience = 2 * time.Second // for the store that is asked for them
)

func (t *Telemetry) watchSuggestions(meter metric.Meter, log timeline.Log) error {
	return gauge(meter, "mulligan.suggestions.open", "{suggestion}", "Suggestions of this store that wait for a person, up to 1000.",
		func(ctx context.Context, o metric.Int64Observer) error {
			ctx, cancel := context.WithTimeout(ctx, listPatience)
			defer cancel()
			open, err := log.List(ctx, timeline.Query{SuggestionOpen: true, Limit: maxOpen})
			if err != nil {
				return err
			}
			now := t.now()
			open = slices.DeleteFunc(open, func(s timeline.Summary) bool { return !s.Asks(now) })
			o.Observe(int64(len(open)))
			return nil
		})
}
