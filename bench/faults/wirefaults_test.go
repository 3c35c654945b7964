package faults

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/faultlab"
)

// providers are the entries that the wire faults are played on, and their wires.
var providers = []struct{ name, wire string }{
	{"anthropic", "anthropic"},
	{"openai", "openai"},
	{"openai-responses", "responses"},
	{"gemini", "gemini"},
	{"openrouter", "openai"},
	{"litellm", "openai"},
	{"ollama", "openai"},
}

// dialect is a wire's form of everything that a fault needs.
type dialect struct {
	opening   string // the beginning of a stream, up to the text "Hello"
	errorBody string // the body of an error; %d is the status
	event     string // an error within a stream
	overflow  string // the error that says that the conversation is too long
	life      string // a keep-alive that is not progress
}

var dialects = map[string]dialect{
	"anthropic": {
		opening: `event: message_start
data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":9,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello"}}

`,
		errorBody: `{"type":"error","error":{"type":"error","message":"It answered %d"}}`,
		event:     "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n",
		overflow:  `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 300000 tokens > 200000 maximum"}}`,
		life:      "event: ping\ndata: {\"type\": \"ping\"}\n\n",
	},
	"openai": {
		opening: `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant","content":"Hello"},"finish_reason":null}]}

`,
		errorBody: `{"error":{"message":"It answered %d","type":"error","param":null,"code":null}}`,
		event:     "data: {\"error\":{\"message\":\"The server is currently overloaded with other requests.\",\"type\":\"server_error\",\"code\":503}}\n\n",
		overflow:  `{"error":{"message":"This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`,
		life:      ": keep-alive\n\n",
	},
	"responses": {
		opening: `event: response.created
data: {"type":"response.created","sequence_number":0,"response":{"id":"resp_1","status":"in_progress","output":[]}}

event: response.output_item.added
data: {"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":{"id":"msg_1","type":"message","status":"in_progress","role":"assistant","content":[]}}

event: response.content_part.added
data: {"type":"response.content_part.added","sequence_number":2,"item_id":"msg_1","output_index":0,"content_index":0,"part":{"type":"output_text","text":""}}

event: response.output_text.delta
data: {"type":"response.output_text.delta","sequence_number":3,"item_id":"msg_1","output_index":0,"content_index":0,"delta":"Hello"}

`,
		errorBody: `{"error":{"message":"It answered %d","type":"error","param":null,"code":null}}`,
		event:     "event: error\ndata: {\"type\":\"error\",\"sequence_number\":9,\"code\":\"server_overloaded\",\"message\":\"The server is overloaded.\",\"param\":null}\n\n",
		overflow:  `{"error":{"message":"Your input exceeds the context window of this model. Please adjust your input and try again.","type":"invalid_request_error","param":"input","code":"context_length_exceeded"}}`,
		life:      ": keep-alive\n\n",
	},
	"gemini": {
		opening: `data: {"candidates":[{"content":{"parts":[{"text":"Hello"}],"role":"model"},"index":0}],"responseId":"r1"}

`,
		errorBody: `{"error":{"code":%d,"message":"It answered so","status":"UNKNOWN"}}`,
		event:     "data: {\"error\":{\"code\":503,\"message\":\"The model is overloaded. Please try again later.\",\"status\":\"UNAVAILABLE\"}}\n\n",
		overflow:  `{"error":{"code":400,"message":"The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).","status":"INVALID_ARGUMENT"}}`,
		life:      ": keep-alive\n\n",
	},
}

// wireFault is a fault as a server plays it, and the kind that every provider must have.
type wireFault struct {
	name string
	kind failure.Kind
	wait time.Duration
	play func(x response)
}

// response is one response in which a fault is played.
type response struct {
	w http.ResponseWriter
	r *http.Request
	dialect
}

func (x response) status(code int, header ...string) {
	x.w.Header().Set("Content-Type", "application/json")
	for i := 0; i < len(header); i += 2 {
		x.w.Header().Set(header[i], header[i+1])
	}
	x.w.WriteHeader(code)
	body := x.errorBody
	if strings.Contains(body, "%d") {
		body = fmt.Sprintf(body, code)
	}
	x.say(body)
}

func (x response) stream(frames ...string) {
	x.w.Header().Set("Content-Type", "text/event-stream")
	x.w.WriteHeader(http.StatusOK)
	x.say("")
	for _, frame := range frames {
		x.say(frame)
	}
}

func (x response) say(text string) {
	_, _ = io.WriteString(x.w, text)
	_ = http.NewResponseController(x.w).Flush()
}

func (x response) hang() { <-x.r.Context().Done() }

// cut breaks the connection after delivering what was sent before.
func (x response) cut() {
	time.Sleep(20 * time.Millisecond)
	panic(http.ErrAbortHandler)
}

func statusFault(name string, code int, kind failure.Kind, wait time.Duration, header ...string) wireFault {
	return wireFault{name, kind, wait, func(x response) { x.status(code, header...) }}
}

const page = "<!doctype html><html><head><title>Log in</title></head><body>Please log in to the network</body></html>"

var wireFaults = []wireFault{
	statusFault("429 with seconds", 429, failure.KindRateLimit, 7*time.Second, "Retry-After", "7"),
	{"429 with a date", failure.KindRateLimit, 7 * time.Second, func(x response) {
		now := time.Now().UTC().Truncate(time.Second)
		x.status(429, "Date", now.Format(http.TimeFormat), "Retry-After", now.Add(7*time.Second).Format(http.TimeFormat))
	}},
	statusFault("429 in ms", 429, failure.KindRateLimit, 250*time.Millisecond, "Retry-After-Ms", "250"),
	statusFault("429 of two hours", 429, failure.KindRateLimit, 2*time.Hour, "Retry-After", "7200"),
	statusFault("500", 500, failure.KindUnavailable, 0),
	statusFault("503", 503, failure.KindOverloaded, 0),
	statusFault("529", 529, failure.KindOverloaded, 0),
	statusFault("401", 401, failure.KindAuth, 0),
	statusFault("402", 402, failure.KindBilling, 0),
	statusFault("404", 404, failure.KindModelNotFound, 0),
	{"overflow", failure.KindContextOverflow, 0, func(x response) { x.errorBody = x.overflow; x.status(400) }},
	{"HTML 502", failure.KindUnavailable, 0, func(x response) {
		x.errorBody = page
		x.status(502, "Content-Type", "text/html")
	}},
	{"HTML 200", failure.KindUnreachable, 0, func(x response) {
		x.errorBody = page
		x.status(200, "Content-Type", "text/html; charset=utf-8")
	}},
	{"JSON error with 200", failure.KindUnavailable, 0, func(x response) {
		x.errorBody = `{"error":{"message":"upstream unavailable","type":"server_error","code":502}}`
		x.status(200)
	}},
	statusFault("redirect", 307, failure.KindMisconfigured, 0, "Location", "http://elsewhere.invalid/"),
	{"refused", failure.KindUnreachable, 0, nil}, // nothing listens
	{"reset before headers", failure.KindUnreachable, 0, func(x response) { x.cut() }},
	{"hang before headers", failure.KindTimeout, 0, func(x response) { x.hang() }},
	{"headers, then silence", failure.KindTimeout, 0, func(x response) { x.stream(); x.hang() }},
	{"pings for ever", failure.KindTimeout, 0, func(x response) {
		x.stream()
		for x.r.Context().Err() == nil {
			x.say(x.life)
			time.Sleep(10 * time.Second)
		}
	}},
	{"silence in mid-stream", failure.KindTimeout, 0, func(x response) { x.stream(x.opening); x.hang() }},
	{"reset in mid-stream", failure.KindStreamInterrupted, 0, func(x response) { x.stream(x.opening); x.cut() }},
	{"end in mid-chunk", failure.KindStreamInterrupted, 0, func(x response) { x.stream(x.opening, "data: {\"ty"); x.cut() }},
	{"clean end without a terminal event", failure.KindStreamInterrupted, 0, func(x response) { x.stream(x.opening) }},
	{"error event first", failure.KindOverloaded, 0, func(x response) { x.stream(x.event) }},
	{"error event after text", failure.KindOverloaded, 0, func(x response) { x.stream(x.opening, x.event) }},
	{"malformed frame", failure.KindMalformedResponse, 0, func(x response) { x.stream(x.opening, "data: {\"oops\n\n") }},
	{"empty 200", failure.KindEmptyResponse, 0, func(x response) { x.stream() }},
}

// TestWireFaults requires the same kind from every provider.
func TestWireFaults(t *testing.T) {
	for _, p := range providers {
		for _, fault := range wireFaults {
			t.Run(p.name+"/"+fault.name, func(t *testing.T) {
				v := playFault(t, p.name, p.wire, fault)
				if v.failure == nil {
					t.Fatalf("it passed for the answer %q", v.text)
				}
				if v.failure.Kind != fault.kind || v.failure.RetryAfter.Duration() != fault.wait {
					t.Errorf("%s after %s (%v), want %s after %s", v.failure.Kind, v.failure.RetryAfter.Duration(), v.failure, fault.kind, fault.wait)
				}
				if v.failure.Provider != p.name || v.failure.Title == "" || v.failure.Message == "" {
					t.Errorf("%+v", v.failure)
				}
			})
		}
	}
}

func playFault(t *testing.T, entry, wire string, fault wireFault) (v verdict) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		network := faultlab.NewMemListener()
		server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			fault.play(response{w, r, dialects[wire]})
		})}
		if fault.play == nil {
			_ = network.Close()
		} else {
			go func() { _ = server.Serve(network) }()
		}
		v = runOnce(t, wire, entry, access{
			base: "http://127.0.0.1:1",
			dial: func(ctx context.Context, _, _ string) (net.Conn, error) { return network.Dial(ctx) },
		})
		_ = server.Close()
		time.Sleep(5 * time.Minute)
	})
	return v
}
