package gateway

import (
	"context"
	"math"
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
)

type eventsInput struct {
	query
	RunPath
	LastEventID string `header:"Last-Event-ID" doc:"The last id that was seen: events after it follow. Of more weight than after."`
	After       uint64 `query:"after" doc:"Only events after this sequence number."`
}

func (g *Gateway) registerEvents() {
	register(g, huma.Operation{
		OperationID: "follow-run", Method: http.MethodGet, Path: "/v1/runs/{id}/events", Tags: []string{"runs"},
		Summary: "What happens to a run, live",
		Description: "A stream of server-sent events. `event: event` is durable: its id is its sequence number, its data the event's " +
			"stored form. `event: situation` comes before an event by which it changed, and is what a person should see and can do from " +
			"then on: see the schema of a run's `situation`. `event: delta` is a live piece of text and `event: notice` a line for people, without an id; `event: end` says " +
			"that nothing follows. Who reads too slowly, and is behind by more than 256 of these or by 1 MiB, is told `event: resync`: " +
			"come back with the last id that you saw. Comments are signs of life.",
		Responses: map[string]*huma.Response{"200": {
			Description: "The stream; it ends with the run.",
			Content:     map[string]*huma.MediaType{"text/event-stream": {Schema: framesSchema(g.api.OpenAPI().Components.Schemas)}},
		}},
		Errors: []int{http.StatusNotFound},
	}, g.followRun)
}

func (g *Gateway) followRun(ctx context.Context, in *eventsInput) (*huma.StreamResponse, error) {
	after := in.After
	if in.LastEventID != "" {
		n, err := strconv.ParseUint(in.LastEventID, 10, 64)
		if err != nil {
			return nil, huma.Error422UnprocessableEntity("Last-Event-ID is not a sequence number",
				&huma.ErrorDetail{Message: "it is the id of an event of this stream", Location: "header.Last-Event-ID", Value: in.LastEventID})
		}
		after = n
	}
	// This checks that the run exists without reading its events, which may be long.
	if _, err := g.cfg.Log.Inbox(ctx, in.ID, math.MaxUint64, 1); err != nil {
		return nil, g.problem(err)
	}
	return answerByStream(nil, func(ctx context.Context, w http.ResponseWriter) { g.follow(ctx, w, in.ID, after) }), nil
}

// answerByStream answers with a stream that follow writes, with extra headers.
func answerByStream(header map[string]string, follow func(context.Context, http.ResponseWriter)) *huma.StreamResponse {
	return &huma.StreamResponse{Body: func(out huma.Context) {
		out.SetHeader("Content-Type", "text/event-stream")
		out.SetHeader("Cache-Control", "no-store")
		out.SetHeader("X-Accel-Buffering", "no")
		for name, value := range header {
			out.SetHeader(name, value)
		}
		if a, ok := out.BodyWriter().(*streamed); ok {
			a.follow = follow
		}
	}}
}

// streamed is the answer to a request for a stream: what is left to do after routing and
// validation. These return first, because their stack is half of the memory that a follower
// takes, and a follower waits as long as the run goes on.
type streamed struct {
	http.ResponseWriter
	follow func(context.Context, http.ResponseWriter) // nil = the request was refused
}

// stream answers a request for a stream.
func (g *Gateway) stream(w http.ResponseWriter, r *http.Request) {
	a := &streamed{ResponseWriter: w}
	g.mux.ServeHTTP(a, r)
	if a.follow == nil {
		return
	}
	if begun, ok := r.Context().Value(begunKey{}).(func()); ok {
		begun()
	}
	r.Body = http.NoBody // the body is not kept in memory while the stream is open
	a.follow(r.Context(), w)
}

func (g *Gateway) follow(ctx context.Context, w http.ResponseWriter, run string, after uint64) {
	s := &subscriber{w: w, flow: http.NewResponseController(w)}
	s.situation = g.situations.join(run, s)
	defer g.situations.leave(run, s)
	if err := s.follow(ctx, g.cfg.Log, run, after); err != nil && ctx.Err() == nil {
		g.gone(run, err)
	}
}

func (g *Gateway) gone(run string, err error) {
	g.cfg.Logger.Info("a follower is gone", "run", run, "err", err)
}
