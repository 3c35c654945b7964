package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/mulligan-run/mulligan/timeline"
)

const (
	heartbeat    = 15 * time.Second // between signs of life on a quiet stream
	writeTimeout = 10 * time.Second // for one event; a client that takes longer is cut
)

// Delta is a live piece of an attempt's text. Whoever has more of it already, or misses a
// piece before it, drops it: the next checkpoint has it all.
type Delta struct {
	Run      string `json:"run"`
	Attempt  uint64 `json:"attempt"`
	Offset   int    `json:"offset" doc:"Where the text begins, in bytes of UTF-8; reasoning has offsets of its own."`
	Text     string `json:"text"`
	Thinking bool   `json:"thinking,omitempty"`
}

// Notice tells people at once what no event can say now: the store does not write.
type Notice struct {
	Run  string `json:"run"`
	Text string `json:"text"`
}

type eventsInput struct {
	RunPath
	LastEventID string `header:"Last-Event-ID" doc:"The last id that was seen: events after it follow. Of more weight than after."`
	After       uint64 `query:"after" doc:"Only events after this sequence number."`
}

func (g *Gateway) registerEvents() {
	huma.Register(g.api, huma.Operation{
		OperationID: "follow-run", Method: http.MethodGet, Path: "/v1/runs/{id}/events", Tags: []string{"runs"},
		Summary: "What happens to a run, live",
		Description: "A stream of server-sent events. `event: event` is durable: its id is its sequence number, its data the event's " +
			"stored form. `event: delta` is a live piece of text and `event: notice` a line for people, without an id; `event: end` says that nothing follows. Comments are signs of life.",
		Responses: map[string]*huma.Response{"200": {
			Description: "The stream; it ends with the run.",
			Content:     map[string]*huma.MediaType{"text/event-stream": {Schema: &huma.Schema{Type: "string"}}},
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
	if _, err := g.cfg.Log.Read(ctx, in.ID, after, 1); err != nil {
		return nil, g.problem(err)
	}
	return &huma.StreamResponse{Body: func(out huma.Context) {
		out.SetHeader("Content-Type", "text/event-stream")
		out.SetHeader("Cache-Control", "no-store")
		out.SetHeader("X-Accel-Buffering", "no")
		w, ok := out.BodyWriter().(http.ResponseWriter)
		if !ok {
			return
		}
		s := &subscriber{w: w, flow: http.NewResponseController(w)}
		if err := s.follow(out.Context(), g.cfg.Log, in.ID, after); err != nil && out.Context().Err() == nil {
			g.cfg.Logger.Info("a follower is gone", "run", in.ID, "err", err)
		}
	}}, nil
}

var errOver = errors.New("the stream is over")

// subscriber is one client that follows a run.
type subscriber struct {
	w    http.ResponseWriter
	flow *http.ResponseController

	mu   sync.Mutex // held while something is sent
	buf  bytes.Buffer
	beat *time.Timer // of the next sign of life
	over bool        // nothing more may be sent
}

// follow sends what happens until the run has ended or the client is gone. There may be
// thousands who follow: so signs of life come from a timer, and not from a goroutine.
func (s *subscriber) follow(ctx context.Context, log timeline.Log, run string, after uint64) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s.begin(cancel)
	defer s.close()
	if err := s.comment("welcome"); err != nil {
		return err
	}
	for item, err := range log.Follow(ctx, run, after) {
		if err == nil {
			err = s.item(item)
		}
		if err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx) // it is the client or the gateway that ends, and the run does not
	}
	return s.send("", "end", []byte("{}")) // so that the client does not come back
}

// begin has signs of life sent while nothing else is. Whoever does not take one is gone.
func (s *subscriber) begin(gone context.CancelCauseFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.beat = time.AfterFunc(heartbeat, func() {
		if err := s.comment("still here"); err != nil {
			gone(err)
		}
	})
}

// close waits for what is being sent: the answer is not ours any more then.
func (s *subscriber) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	s.beat.Stop()
}

func (s *subscriber) item(item timeline.Item) error {
	if d := item.Delta; d != nil {
		data, err := json.Marshal(Delta{d.Run, d.Attempt, d.Offset, d.Text, d.Thinking})
		if err != nil {
			return err
		}
		return s.send("", "delta", data)
	}
	if n := item.Notice; n != nil {
		data, err := json.Marshal(Notice{n.Run, n.Text})
		if err != nil {
			return err
		}
		return s.send("", "notice", data)
	}
	if item.Event == nil {
		return nil
	}
	data, err := json.Marshal(item.Event)
	if err != nil {
		return err
	}
	return s.send(strconv.FormatUint(item.Event.Seq, 10), "event", data)
}

func (s *subscriber) comment(text string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.buf.Reset()
	fmt.Fprintf(&s.buf, ": %s\n\n", text)
	return s.flush()
}

// send writes one event; JSON has no line breaks of its own.
func (s *subscriber) send(id, kind string, data []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.buf.Reset()
	if id != "" {
		fmt.Fprintf(&s.buf, "id: %s\n", id)
	}
	fmt.Fprintf(&s.buf, "event: %s\ndata: %s\n\n", kind, data)
	return s.flush()
}

// flush writes the buffer out.
func (s *subscriber) flush() error {
	if s.over {
		return errOver
	}
	if err := s.flow.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return err
	}
	if _, err := s.w.Write(s.buf.Bytes()); err != nil {
		return err
	}
	s.beat.Reset(heartbeat)
	return s.flow.Flush()
}
