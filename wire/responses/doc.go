// Package responses is OpenAI's Responses API (POST /responses, streaming): its requests as bytes, and
// the bytes of its answers as what was heard.
//
// # Out
//
// request.go writes an llm.Request as the wire's JSON. Nothing is stored at the
// provider: the whole conversation goes out each time, as a list of items without
// ids of their own. What another model said is made fit before (llm/handover).
//
// reasoning.go sends a model's own reasoning back, encrypted as it came. Models that
// do not reason refuse a request that asks for encrypted reasoning, so it is asked
// for where the request names an effort, or has reasoning in it already.
//
// # Back
//
// stream.go reads the events, by the type in their data. An answer is whole when
// response.completed was seen, or a response.incomplete that names the output limit or
// the filter, and only then. An event whose sequence number was seen before is dropped;
// types that are not known are signs of life. item.go keeps what was told of each item
// of the output, so that what only a closing event carries is told too, and nothing
// twice.
//
// # From the other end
//
// asked.go and asked_item.go read a request: the conversation as Encode is told it, and
// what of it no other wire can say. voice.go writes an answer, streamed or as one document,
// and an error within a stream; a whole one is openai.ErrorBody of an openai.Report.
package responses
