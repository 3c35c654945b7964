package faultlab

import (
	"crypto/rand"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/wire"
)

// settle is how long a cut waits for the text before it to reach the client: a reset may overtake
// text that has not been read yet.
const settle = 20 * time.Millisecond

// service is what differs between the services.
type service struct {
	name     string
	idHeader string // of the request id in an answer; "" if it has none

	keyed        func(*http.Request) bool                      // reports whether there is a key
	keyless      int                                           // the status if there is none
	decode       func(body []byte) (wire.Asked, error)         // reads a request
	check        func(query) (ask, *wire.Report)               // checks it
	fault        func(status int) *wire.Report                 // the service's words for a status
	invalid      func(status int, message string) *wire.Report // a bad request
	unknownModel func(model string) *wire.Report
	overloaded   int // the status that says so
	errorBody    func(r wire.Report, requestID string) []byte
	document     func(h wire.Head, said llm.Message, stop llm.StopReason, usage llm.Usage) []byte // an answer that is not streamed
	speak        func(a ask, h wire.Head) wire.Voice                                              // an answer that is

	overloadCode string // in a stream; "" = that of the status

	id          string                    // how the id of an answer begins
	callID      func(model string) string // of a tool call; "" if it has none
	thoughtSeal func(a ask) string        // at the end of reasoning; nil if there is none
	callSeal    bool                      // the first call carries the seal, or otherwise the end of an answer with reasoning
}

// query is a request to be checked by the rules of a wire.
type query struct {
	url    *url.URL
	header http.Header
	body   []byte
	asked  wire.Asked                    // what it says; empty if it cannot be read
	issued func(model, seal string) bool // reports whether this lab issued the seal
}

// ask is the part of the request that all wires have.
func (in query) ask() ask {
	return ask{model: in.asked.Model, stream: in.asked.Stream, usage: in.asked.Usage, tokens: 1 + len(in.body)/4}
}

// ask is what a lab needs to know about a request.
type ask struct {
	model  string
	stream bool
	usage  bool   // OpenAI: stream_options.include_usage
	array  bool   // Gemini: the stream is one JSON array
	sealed bool   // Responses: reasoning.encrypted_content is asked for
	tokens int    // a rough count of the input
	seal   string // for the reasoning of the answer
}

// exchange is one request and its answer.
type exchange struct {
	lab     *Lab
	w       http.ResponseWriter
	r       *http.Request
	service *service
	ask     ask
	asked   wire.Asked
}

// read reads a request and checks it by the rules of its wire.
func (x *exchange) read(body []byte) *wire.Report {
	asked, err := x.service.decode(body)
	issued := func(model, seal string) bool { return x.lab.issued(x.service.name, model, seal) }
	ask, refused := x.service.check(query{url: x.r.URL, header: x.r.Header, body: body, asked: asked, issued: issued})
	ask.seal = x.lab.seal(x.service.name, ask.model)
	x.ask, x.asked = ask, asked
	if refused == nil && err != nil {
		return x.service.invalid(http.StatusBadRequest, err.Error())
	}
	return refused
}

func (x *exchange) play(s Step) {
	switch s.kind {
	case kindStatus:
		x.status(s)
	case kindOverloaded:
		s.status = x.service.overloaded
		x.status(s)
	case kindHang:
		x.forever()
	case kindRefuse:
		x.reset()
	case kindEmpty:
		x.begin()
	case kindRow:
		script, _ := s.on(x.service.name)
		x.playRow(script)
	default:
		x.say(s)
	}
}

// say plays the steps that produce a reply.
func (x *exchange) say(s Step) {
	if s.echo {
		s.reply.text = echo(x.asked.Request.Messages)
	}
	if x.ask.stream {
		x.stream(s)
		return
	}
	x.speakWhole(s)
}

func (x *exchange) stream(s Step) {
	x.begin()
	v := x.newVoice()
	v.say(llm.Delta{Kind: llm.DeltaUsage, Usage: v.usage(reply{})}, llm.Delta{Kind: llm.DeltaStart})
	pace := x.lab.pace
	if s.pace > 0 {
		pace = s.pace
	}
	// By the clock, not from one chunk to the next: otherwise streams that once waited for a
	// processor together would send at the same moments from then on.
	next := time.Now()
	turn := func() {
		next = next.Add(pace)
		x.pause(time.Until(next))
	}
	for _, chunk := range words(s.reply.thought) {
		turn()
		v.say(llm.Delta{Kind: llm.DeltaThinking, Text: chunk})
	}
	v.sealThought(s.reply)
	for _, chunk := range words(s.reply.text) {
		turn()
		v.say(llm.Delta{Kind: llm.DeltaText, Text: chunk})
	}
	switch s.kind {
	case kindReply:
		v.finish(s.reply)
	case kindErrorEvent:
		x.emit(string(v.encoder.Fail(x.service.overload(), nil)))
	default:
		x.breakOff(s.kind, "data: {\"type\":\"content_block_delta\",\"choices\":[{\"delta\":{\"cont\n\n")
	}
}

// speakWhole answers a request that did not ask for a stream.
func (x *exchange) speakWhole(s Step) {
	if s.kind == kindErrorEvent {
		x.fail(x.service.fault(x.service.overloaded))
		return
	}
	x.pause(s.pace * time.Duration(len(words(s.reply.thought))+len(words(s.reply.text))))
	v := x.newVoice()
	message, stop := v.message(s.reply)
	body := string(x.service.document(v.head, message, stop, v.usage(s.reply)))
	x.begin()
	if s.kind == kindReply {
		x.emit(body)
		return
	}
	x.emit(body[:len(body)/2])
	x.breakOff(s.kind, "<oops>")
}

// breakOff ends an answer in the middle, in the step's way.
func (x *exchange) breakOff(k kind, garbage string) {
	switch k {
	case kindStall:
		x.forever()
	case kindCut:
		x.pause(settle)
		x.reset()
	case kindMalformed:
		x.emit(garbage)
	}
}

// status plays an HTTP status as scripted.
func (x *exchange) status(s Step) {
	for name, value := range s.header {
		x.w.Header().Set(name, value)
	}
	if s.body == "" {
		x.fail(x.service.fault(s.status))
		return
	}
	if x.w.Header().Get("Content-Type") == "" {
		x.w.Header().Set("Content-Type", "application/json")
	}
	x.identify(newID("req_"))
	x.w.WriteHeader(s.status)
	x.emit(s.body)
}

// fail answers with an error in the wire's form.
func (x *exchange) fail(f *wire.Report) {
	id := newID("req_")
	x.w.Header().Set("Content-Type", "application/json")
	x.identify(id)
	x.w.WriteHeader(f.Status)
	body := string(x.service.errorBody(*f, id))
	if x.ask.array {
		body = "[" + body + "]"
	}
	x.emit(body)
}

// identify gives the answer its request id, if the wire has one.
func (x *exchange) identify(id string) {
	if x.service.idHeader != "" {
		x.w.Header().Set(x.service.idHeader, id)
	}
}

// begin sends the header of a good answer.
func (x *exchange) begin() {
	h := x.w.Header()
	h.Set("Content-Type", "application/json")
	if x.ask.stream && !x.ask.array {
		h.Set("Content-Type", "text/event-stream; charset=utf-8")
		h.Set("Cache-Control", "no-cache")
	}
	x.identify(newID("req_"))
	x.w.WriteHeader(http.StatusOK)
	x.emit("")
}

// emit writes and flushes; it ends the exchange if the client has gone.
func (x *exchange) emit(frame string) {
	if _, err := x.w.Write([]byte(frame)); err != nil {
		panic(http.ErrAbortHandler)
	}
	_ = http.NewResponseController(x.w).Flush()
}

// pause waits; it ends the exchange if the client goes or the lab is closed.
func (x *exchange) pause(d time.Duration) {
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	x.await(timer.C)
}

// forever waits until the client goes or the lab is closed.
func (x *exchange) forever() { x.await(nil) }

func (x *exchange) await(c <-chan time.Time) {
	select {
	case <-c:
	case <-x.r.Context().Done():
		panic(http.ErrAbortHandler)
	case <-x.lab.closed:
		panic(http.ErrAbortHandler)
	}
}

// reset breaks the connection: with a reset over TCP, otherwise by closing it.
func (x *exchange) reset() { resetConn(x.takeOver()) }

// takeOver takes the connection from net/http. What was sent on it before stays sent.
func (x *exchange) takeOver() net.Conn {
	conn, _, err := http.NewResponseController(x.w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	return conn
}

func resetConn(conn net.Conn) {
	if inner, ok := conn.(interface{ NetConn() net.Conn }); ok {
		conn = inner.NetConn()
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

// newID returns a fresh id that every wire accepts as a tool id: 24 random letters and digits after
// its prefix.
func newID(prefix string) string { return prefix + rand.Text()[:24] }
