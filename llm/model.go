package llm

import (
	"context"
	"encoding/json"
	"iter"
	"time"
)

// Model answers one request with one streaming call.
//
// Stream yields what it receives up to the provider's terminal event, which it yields as a delta of
// kind DeltaStop, with nothing after it. Otherwise the last thing it yields is an error; an adapter
// that knows its wire makes that a *failure.Failure. Stream never retries, follows no redirect,
// returns soon after ctx is cancelled or the consumer stops, and may be called by several
// goroutines at once.
type Model interface {
	Stream(ctx context.Context, request Request) iter.Seq2[Delta, error]
}

// Interruptible is a Model whose Stream returns soon after ctx is cancelled whatever its provider
// does, as every Model should and not every one does. A runner may then make a call on the goroutine
// of whoever waits for the answer, as it could not abandon that one.
type Interruptible interface {
	Model
	// Interruptible does nothing.
	Interruptible()
}

// ModelFunc makes a Model from a function.
type ModelFunc func(ctx context.Context, request Request) iter.Seq2[Delta, error]

// Stream calls f.
func (f ModelFunc) Stream(ctx context.Context, request Request) iter.Seq2[Delta, error] {
	return f(ctx, request)
}

// Request is one model call.
type Request struct {
	Model           string // full name, provider/model; messages of any other model are foreign
	System          string
	Messages        []Message
	Tools           []Tool
	MaxOutputTokens int           // 0 = the adapter's default
	ReasoningEffort string        // "", "low", "medium" or "high"
	Temperature     *float64      // 0 to 2; nil = the model's own; not sent to a model that reasons
	TopP            *float64      // 0 to 1; likewise
	ToolChoice      ToolChoice    // ignored without Tools
	Format          *Format       // nil = any text
	ConnectTimeout  time.Duration // for name lookup, dialling and TLS handshake together; 0 = the adapter's own, negative = none
	Session         string        // names the conversation, for an Engine, which keeps it; the same in all calls of the conversation
	Native          *Native       // the caller's own request, for a model of the same wire
	Credential      *Credential   // the caller's own credential for one provider; nil = none

	// OnHeaders, if it is set, is told the headers of a call that Stream ends with an error, before
	// it yields that, unless no connection was made for it. An adapter whose wire is not HTTP does
	// not call it.
	OnHeaders func(Headers) `json:"-"`
}

// Credential is what a caller presents to one provider. It must never be sent to anybody else.
type Credential struct {
	Provider string              // the part of a model's full name before the slash
	Header   map[string][]string // Authorization, X-Api-Key, Api-Key or X-Goog-Api-Key
}

// Tool declares a tool to the model.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"schema,omitempty"` // JSON Schema of the arguments; nil = any object
}

// Usage counts tokens of one or more calls.
type Usage struct {
	InputTokens      int64 `json:"inputTokens,omitempty"` // without tokens read from a cache
	OutputTokens     int64 `json:"outputTokens,omitempty"`
	CacheReadTokens  int64 `json:"cacheReadTokens,omitempty"`
	CacheWriteTokens int64 `json:"cacheWriteTokens,omitempty"`
}

// Plus adds two counts.
func (u Usage) Plus(v Usage) Usage {
	return Usage{
		InputTokens:      Sum(u.InputTokens, v.InputTokens),
		OutputTokens:     Sum(u.OutputTokens, v.OutputTokens),
		CacheReadTokens:  Sum(u.CacheReadTokens, v.CacheReadTokens),
		CacheWriteTokens: Sum(u.CacheWriteTokens, v.CacheWriteTokens),
	}
}

// Total is the number of tokens of all kinds.
func (u Usage) Total() int64 {
	return Sum(Sum(u.InputTokens, u.OutputTokens), Sum(u.CacheReadTokens, u.CacheWriteTokens))
}
