package faultlab

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/mulligan-run/mulligan/faultlab/catalogue"
)

// Step is what a lab does with one request. The zero Step is Answer("").
// Steps are values; the functions below make them.
//
// The steps that fail in mid-stream fail in the middle of the JSON if the request did not ask for a
// stream; ErrorEventAfter is then Overloaded.
type Step struct {
	kind   kind
	name   string
	reply  reply
	pace   time.Duration
	status int
	header map[string]string
	body   string
	echo   bool // the reply's text is what was asked

	row      []catalogue.Script // one for each wire
	optional bool               // skipped on the other wires
}

// Call is one tool call. Args is its JSON object; empty means {}. Args that are not JSON are
// streamed as they are, which is itself a fault.
type Call struct {
	Name string
	Args string
}

// reply is what a model would have thought and said.
type reply struct {
	thought string
	text    string
	calls   []Call
}

type kind int

const (
	kindReply kind = iota
	kindStatus
	kindOverloaded
	kindHang
	kindStall
	kindCut
	kindErrorEvent
	kindEnd
	kindEmpty
	kindMalformed
	kindRefuse
	kindRow
)

// speaks reports whether the step shows some of its reply.
func (s Step) speaks() bool {
	switch s.kind {
	case kindReply, kindStall, kindCut, kindErrorEvent, kindEnd, kindMalformed:
		return true
	}
	return false
}

// Name is the step's short name, as in a script: "answer", "tool", "429", "cut".
func (s Step) Name() string {
	if s.name == "" {
		return "answer"
	}
	return s.name
}

// Answer streams text word by word and ends properly, with usage.
func Answer(text string) Step { return Step{name: "answer", reply: reply{text: text}} }

// Echo answers with the user's last message, shortened.
func Echo() Step { return Step{name: "echo", echo: true} }

// SlowAnswer is Answer with that much time before the first word and between words.
func SlowAnswer(text string, perChunk time.Duration) Step {
	return Step{name: "slow", reply: reply{text: text}, pace: perChunk}
}

// ToolCall asks for one tool call with a fresh, legal id. args is a JSON object.
func ToolCall(name, args string) Step { return ToolCalls("", Call{Name: name, Args: args}) }

// ToolCalls asks for several tool calls in one answer, after text if there is any.
func ToolCalls(text string, calls ...Call) Step {
	return Step{name: "tool", reply: reply{text: text, calls: calls}}
}

// Thinking shows reasoning before what the next step says, in the wire's form, whether or not the
// request asked for reasoning: with a signature (Anthropic, Gemini), with encrypted content if the
// request includes it (Responses), or as bare reasoning_content (Chat Completions). The lab accepts
// such a seal back for the same model only. Steps that say nothing, such as Hang, are not changed.
func Thinking(thought string, then Step) Step {
	then.reply.thought = thought
	return then
}

// Status answers with an HTTP error. An empty body stands for the wire's own error body for that
// code. A code outside 200–599 becomes 500.
func Status(code int, header map[string]string, body string) Step {
	if code < 200 || code > 599 {
		code = http.StatusInternalServerError
	}
	return Step{kind: kindStatus, name: strconv.Itoa(code), status: code, header: header, body: body}
}

// RateLimited is 429 with Retry-After in whole seconds, rounded up, and with retry-after-ms if the
// rounding lost something. For a negative duration neither is sent.
func RateLimited(retryAfter time.Duration) Step {
	return Status(http.StatusTooManyRequests, retryHeader(retryAfter), "")
}

func retryHeader(after time.Duration) map[string]string {
	if after < 0 {
		return nil
	}
	seconds := int64(after / time.Second)
	header := map[string]string{}
	if after%time.Second != 0 {
		seconds++
		header["Retry-After-Ms"] = strconv.FormatInt(after.Milliseconds(), 10)
	}
	header["Retry-After"] = strconv.FormatInt(seconds, 10)
	return header
}

// Unavailable is 503.
func Unavailable() Step { return Status(http.StatusServiceUnavailable, nil, "") }

// Unauthorized is 401, as for a key that is not valid.
func Unauthorized() Step { return Status(http.StatusUnauthorized, nil, "") }

// Overloaded is 529 overloaded_error on the Anthropic wire and 503 on the others.
func Overloaded() Step { return Step{kind: kindOverloaded, name: "529"} }

// HTML502 is the error page of a proxy in between.
func HTML502() Step {
	s := Status(http.StatusBadGateway, map[string]string{"Content-Type": "text/html", "Server": "nginx"}, badGatewayPage)
	s.name = "html502"
	return s
}

const badGatewayPage = "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n" +
	"<center><h1>502 Bad Gateway</h1></center>\r\n<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n"

// Hang sends nothing, not even a header, until the client goes away or the lab is closed.
func Hang() Step { return Step{kind: kindHang, name: "hang"} }

// StallAfter streams text and then nothing, until the client goes away or the lab is closed.
func StallAfter(text string) Step {
	return Step{kind: kindStall, name: "stall", reply: reply{text: text}}
}

// CutAfter streams text and then breaks the connection: a reset over TCP.
func CutAfter(text string) Step { return Step{kind: kindCut, name: "cut", reply: reply{text: text}} }

// ErrorEventAfter streams text and then the wire's error event for an overloaded server.
func ErrorEventAfter(text string) Step {
	return Step{kind: kindErrorEvent, name: "error", reply: reply{text: text}}
}

// EndAfter streams text and then ends the HTTP answer cleanly, without the
// wire's terminal event.
func EndAfter(text string) Step { return Step{kind: kindEnd, name: "end", reply: reply{text: text}} }

// Empty200 is 200 with the right content type and no body.
func Empty200() Step { return Step{kind: kindEmpty, name: "empty"} }

// Malformed streams text and then a frame that is not JSON.
func Malformed(text string) Step {
	return Step{kind: kindMalformed, name: "malformed", reply: reply{text: text}}
}

// Refuse breaks the connection before the first byte of an answer: a reset over TCP.
func Refuse() Step { return Step{kind: kindRefuse, name: "refuse"} }

// words cuts text into the chunks in which it is streamed; together they are text.
func words(text string) []string {
	if text == "" {
		return nil
	}
	parts := strings.SplitAfter(text, " ")
	if last := len(parts) - 1; parts[last] == "" {
		parts = parts[:last]
	}
	return parts
}
