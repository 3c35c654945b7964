package telemetry

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// Requests makes a span for each request to an API, from its head to the end of its answer; for a
// stream of events, until somebody hangs up. It belongs behind authentication: strangers'
// requests must not fill the queue, and a traceparent, which makes a span part of the caller's
// trace, is trusted. Requests for health and metrics are frequent and make no spans.
func (t *Telemetry) Requests(api http.Handler) http.Handler {
	if t.traces == nil {
		return api
	}
	traced := otelhttp.NewHandler(http.HandlerFunc(func(w http.ResponseWriter, shown *http.Request) {
		r := shown.Context().Value(askedKey{}).(*http.Request).WithContext(shown.Context()) //nolint:errcheck // set by show
		api.ServeHTTP(w, r)
		shown.Pattern = r.Pattern // the span is named after it
		describe(trace.SpanFromContext(r.Context()), r, w.Header())
	}), "", otelhttp.WithTracerProvider(t.traces), otelhttp.WithMeterProvider(noop.NewMeterProvider()),
		otelhttp.WithPropagators(propagation.TraceContext{}))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/healthz", "/readyz", "/metrics":
			api.ServeHTTP(w, r)
		default:
			traced.ServeHTTP(w, show(r))
		}
	})
}

const traceparent = "Traceparent"

// askedKey is where a request is kept while show's copy of it goes through otelhttp.
type askedKey struct{}

// show is the part of a request that a span may reveal. Path, query, body and all headers but
// traceparent, which is only numbers, are left out: they may hold names, tokens and texts, or
// unverified claims (X-Forwarded-For).
func show(r *http.Request) *http.Request {
	shown := &http.Request{
		Method: r.Method, URL: &url.URL{}, Proto: r.Proto, Host: r.Host, RemoteAddr: r.RemoteAddr, TLS: r.TLS,
		Header: http.Header{traceparent: r.Header[traceparent]}, Body: http.NoBody,
	}
	return shown.WithContext(context.WithValue(r.Context(), askedKey{}, r))
}

// describe adds a request's route, and the run that its answer is about.
func describe(span trace.Span, r *http.Request, answer http.Header) {
	if _, route, ok := strings.Cut(r.Pattern, " "); ok {
		span.SetAttributes(keyRoute.String(route))
	}
	run, ok := strings.CutPrefix(answer.Get("Location"), "/v1/runs/")
	if !ok {
		run = answer.Get("X-Mulligan-Run") // of a call through the proxy
	}
	if run != "" {
		span.SetAttributes(keyRun.String(run))
	}
}
