// Package faultlab is a model provider that fails on purpose.
//
// A [Lab] is an http.Handler that speaks two wires, the Anthropic Messages API
// (POST /v1/messages) and the OpenAI Chat Completions API (POST
// /v1/chat/completions), both streaming and whole, both with tools. What it
// says is scripted per model: the n-th request for a model plays the n-th
// [Step] of its script, and the last step repeats.
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
// # What is refused
//
// The lab is as strict as the real services: a request without a key gets 401,
// and a transcript that they would not take (a tool call without its result, a
// result without its call, an illegal tool id, …) gets 400 in the wire's own
// error shape. A refused request does not use up a step, and is listed by
// [Lab.Requests] with the reason.
//
// # Where it runs
//
// [Lab.Listen] serves loopback TCP and nothing else. [Lab.Serve] takes any
// listener; [MemListener] is one in memory, over net.Pipe, that works inside a
// testing/synctest bubble, where hangs and stalls cost no time.
package faultlab
