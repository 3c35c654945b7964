// Package faultlab is a model provider that fails on purpose.
//
// A [Lab] is an http.Handler that speaks four wires, each streaming and whole,
// with tools and with reasoning ([Thinking]):
//
//	anthropic   Anthropic Messages        POST /v1/messages
//	openai      OpenAI Chat Completions   POST /v1/chat/completions
//	responses   OpenAI Responses          POST /v1/responses
//	gemini      Gemini                    POST /v1beta/models/{model}:generateContent,
//	                                      and :streamGenerateContent with or without ?alt=sse
//
// What it says is scripted per model: the n-th request for a model plays the
// n-th [Step] of its script, and the last step repeats.
//
//	lab := faultlab.New()
//	lab.Script("fable-1",
//		faultlab.RateLimited(2*time.Second),
//		faultlab.CutAfter("It is 14 °C and cl"),
//		faultlab.Answer("It is 14 °C and clear."))
//	server, err := lab.Listen("127.0.0.1:0")
//	…
//	defer server.Close()
//	// send requests to server.URL(), then look at lab.Requests()
//
// The same script in its text form (see [Parse] for the grammar), which is
// also what POST /faultlab/script takes:
//
//	429:2s, cut:It is 14 °C and cl, answer:It is 14 °C and clear.
//
// # What may go wrong
//
//	before the answer   RateLimited, Unavailable, Overloaded, Unauthorized, HTML502, Status, Hang, Refuse
//	in mid-stream       StallAfter, CutAfter, ErrorEventAfter, EndAfter, Malformed
//	instead of it       Empty200
//
// # The catalogue of real faults
//
// Package catalogue has the faults that real providers are known for, byte for byte, each
// with what a client must make of it. [Row] plays one, [Kind] all that are of a kind; in
// a script row:A03 and kind:overloaded. [Lab.Chaos] plays some now and then among good answers,
// the same ones for the same seed. [Lab.Requests] lists them by their names.
//
// What fails below HTTP (name servers, handshakes, resets of HTTP/2 streams) is not a Step:
// [Break] starts one of the [Transports] on a port of its own.
//
// # Models that choose
//
// A request can ask for what it gets, without anybody having told the lab before: the model
// row:A23 plays that row, kind:overloaded the rows of that kind one after the other, and
// script:429:2s,answer:ok that script, which begins again after its last step. A script of
// the model's own comes before that, chaos and the common script after it.
//
// # What is refused
//
// The lab is as strict as the real services: a request without a key gets 401
// (403 on Gemini's wire), and a transcript that they would not take (a tool
// call without its result, a result without its call, an illegal tool id, …)
// gets 400 in the wire's own error shape. A refused request does not use up a
// step, and is listed by [Lab.Requests] with the reason.
//
// Reasoning comes under a seal: Anthropic's signature, the encrypted_content
// of Responses, Gemini's thoughtSignature. A lab takes back only what it has
// sealed itself, for the same model on the same wire. It stores no
// conversation: previous_response_id and references to items find nothing.
//
// # Where it runs
//
// [Lab.Listen] serves loopback TCP and nothing else. There GET / is a page for people, that
// shows what is asked and changes what is played (page.go, control.go, state.go); requests
// that pages of other sites send are refused (foreign.go). [Lab.Serve] takes any
// listener; [MemListener] is one in memory, over net.Pipe, that works inside a
// testing/synctest bubble, where hangs and stalls cost no time.
package faultlab
