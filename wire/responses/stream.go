package responses

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/wire"
)

// stream turns the events of one answer into deltas.
type stream struct {
	state   wire.State
	started bool
	refused bool
	stop    llm.StopReason
	last    int64         // the highest sequence number so far; 0 = none
	items   map[int]*item // by their index on the wire
	calls   int
	newID   func() string
	event   wireEvent // reused, so that an event costs no allocation
}

type wireEvent struct {
	Type     string          `json:"type"`
	Sequence int64           `json:"sequence_number"`
	Error    json.RawMessage `json:"error"`
	Response json.RawMessage `json:"response"`
	Item     json.RawMessage `json:"item"`
	Index    int             `json:"output_index"`
	Delta    string          `json:"delta"`
	Args     string          `json:"arguments"`
	part
}

type wireResponse struct {
	ID         string          `json:"id"`
	Error      json.RawMessage `json:"error"`
	Incomplete wireReason      `json:"incomplete_details"`
	Usage      *wireUsage      `json:"usage"`
}

type wireReason struct {
	Reason string `json:"reason"`
}

type wireUsage struct {
	Input   int64 `json:"input_tokens"`
	Output  int64 `json:"output_tokens"`
	Details struct {
		Cached int64 `json:"cached_tokens"`
	} `json:"input_tokens_details"`
}

// events maps the types of events that matter to their handlers.
var events = map[string]func(*stream, []llm.Delta) ([]llm.Delta, error){
	"response.created":                       (*stream).created,
	"response.output_item.added":             (*stream).add,
	"response.output_item.done":              (*stream).itemDone,
	"response.output_text.delta":             (*stream).text,
	"response.refusal.delta":                 (*stream).refusal,
	"response.reasoning_summary_text.delta":  (*stream).thought,
	"response.reasoning_text.delta":          (*stream).thought,
	"response.function_call_arguments.delta": (*stream).args,
	"response.function_call_arguments.done":  (*stream).argsDone,
	"response.completed":                     (*stream).completed,
	"response.incomplete":                    (*stream).incomplete,
}

// NewDecoder reads the events of one answer. newID makes unused ids for calls without one.
func NewDecoder(newID func() string) wire.Decoder { return newStream(newID) }

func newStream(newID func() string) *stream { return &stream{newID: newID, items: map[int]*item{}} }

func (s *stream) State() wire.State { return s.state }

func (s *stream) Stop() llm.StopReason {
	if s.refused {
		return llm.StopFiltered
	}
	return s.stop
}

func (s *stream) Decode(data []byte, deltas []llm.Delta) ([]llm.Delta, error) {
	if string(bytes.TrimSpace(data)) == "[DONE]" {
		return nil, wire.Malformed("[DONE] without response.completed")
	}
	s.event = wireEvent{Sequence: -1}
	e := &s.event
	err := wire.Unmarshal(data, e)
	handle := events[e.Type]
	switch {
	case err != nil && !e.foreign(err):
		return nil, wire.Malformed("an event is not JSON of its type: %v", err)
	case e.Type == "error", wire.IsError(e.Error):
		return nil, &wire.ReportedError{Body: data}
	case e.Type == "response.failed", e.Type == "response.cancelled":
		return s.failed(data, deltas)
	case s.repeated(), handle == nil:
		return deltas, nil
	}
	return handle(s, deltas)
}

// foreign reports whether err only says that an event of an unknown type has members in unknown
// forms.
func (e *wireEvent) foreign(err error) bool {
	mismatch := (*json.UnmarshalTypeError)(nil)
	return errors.As(err, &mismatch) && e.Type != "" && events[e.Type] == nil
}

// repeated reports whether the event has come before, as from a proxy that replays a stream. It
// does not if the server numbers every event 0.
func (s *stream) repeated() bool {
	number := s.event.Sequence
	if number >= 0 && number <= s.last && s.last > 0 {
		return true
	}
	s.last = max(s.last, number)
	return false
}

func (s *stream) created(deltas []llm.Delta) ([]llm.Delta, error) {
	if len(s.items) > 0 {
		return nil, wire.Malformed("the response begins twice")
	}
	r, err := s.response()
	if err != nil || s.started {
		return deltas, err
	}
	s.started = true
	return append(deltas, llm.Delta{Kind: llm.DeltaStart, RequestID: r.ID}), nil
}

// response decodes the response of an event.
func (s *stream) response() (wireResponse, error) {
	var r wireResponse
	if len(s.event.Response) == 0 {
		return r, nil
	}
	if err := json.Unmarshal(s.event.Response, &r); err != nil {
		return r, wire.Malformed("%s: %v", s.event.Type, err)
	}
	return r, nil
}

func (s *stream) completed(deltas []llm.Delta) ([]llm.Delta, error) {
	for _, it := range s.items {
		if it.call && !it.done {
			return nil, wire.Malformed("the response is complete, and tool call %d is not", it.index)
		}
	}
	reason := llm.StopEnd
	if s.calls > 0 {
		reason = llm.StopToolUse
	}
	return s.end(reason, deltas)
}

func (s *stream) incomplete(deltas []llm.Delta) ([]llm.Delta, error) {
	return s.end("", deltas)
}

// end ends a response for the given reason, unless the response names one itself: then it is
// incomplete, whatever the event is called. An unknown reason is an error, so that an answer that
// was broken off never passes for a whole one.
func (s *stream) end(reason llm.StopReason, deltas []llm.Delta) ([]llm.Delta, error) {
	r, err := s.response()
	switch {
	case err != nil:
		return nil, err
	case wire.IsError(r.Error):
		return r.used(deltas), reported(r.Error)
	}
	switch r.Incomplete.Reason {
	case "":
	case "max_output_tokens":
		reason = llm.StopLength
	case "content_filter":
		reason = llm.StopFiltered
	default:
		reason = ""
	}
	if reason == "" {
		return r.used(deltas), reported(r.Incomplete)
	}
	s.state, s.stop = wire.Done, reason
	return r.used(deltas), nil
}

// failed reports the error of a response that has failed or was cancelled, and its usage.
func (s *stream) failed(data []byte, deltas []llm.Delta) ([]llm.Delta, error) {
	r, err := s.response()
	switch {
	case err != nil:
		return nil, err
	case wire.IsError(r.Error):
		return r.used(deltas), reported(r.Error)
	case s.event.Type == "response.cancelled":
		return r.used(deltas), &wire.ReportedError{Body: data, Kind: failure.KindStreamInterrupted}
	}
	return r.used(deltas), &wire.ReportedError{Body: data}
}

// reported is the error of a response, without the rest of the response, which repeats the request.
func reported(what any) error {
	body, err := wire.JSON(map[string]any{"error": what})
	if err != nil {
		return wire.Malformed("an error: %v", err)
	}
	return &wire.ReportedError{Body: body}
}

// used converts the counts: like llm.Usage, its input is without tokens from a cache.
func (r *wireResponse) used(deltas []llm.Delta) []llm.Delta {
	u := r.Usage
	if u == nil {
		return deltas
	}
	return append(deltas, llm.Delta{Kind: llm.DeltaUsage, Usage: llm.Usage{
		InputTokens:     max(0, u.Input-u.Details.Cached),
		OutputTokens:    u.Output,
		CacheReadTokens: u.Details.Cached,
	}})
}
