package gemini

import (
	"bytes"
	"encoding/json"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/wire"
)

// NewDecoder reads the chunks of one answer. newID makes unused ids for calls without one, such as
// all calls of generation 2.5.
func NewDecoder(newID func() string) wire.Decoder { return &stream{newID: newID} }

// stream turns the chunks of one answer into deltas.
type stream struct {
	state   wire.State
	started bool
	stop    llm.StopReason
	calls   int
	newID   func() string
	usage   llm.Usage
	chunk   wireChunk // reused, so that a chunk costs few allocations
}

type wireChunk struct {
	ID         string          `json:"responseId"`
	Event      string          `json:"event_type"` // of the Interactions API, whose errors also come on this wire
	Error      json.RawMessage `json:"error"`
	Candidates []wireCandidate `json:"candidates"`
	Prompt     struct {
		Blocked string `json:"blockReason"`
		Message string `json:"blockReasonMessage"`
	} `json:"promptFeedback"`
	Usage *wireUsage `json:"usageMetadata"`
}

type wireCandidate struct {
	Index   int `json:"index"`
	Content struct {
		Parts []wireHeard `json:"parts"`
	} `json:"content"`
	Finish  string `json:"finishReason"`
	Message string `json:"finishMessage"`
}

// wireHeard is a part of an answer.
type wireHeard struct {
	Text      string    `json:"text"`
	Thought   bool      `json:"thought"` // Text is a summary of a thought
	Signature string    `json:"thoughtSignature"`
	Call      *wireCall `json:"functionCall"`
}

type wireUsage struct {
	Prompt     int64 `json:"promptTokenCount"`
	Candidates int64 `json:"candidatesTokenCount"`
	Thoughts   int64 `json:"thoughtsTokenCount"`
	Cached     int64 `json:"cachedContentTokenCount"`
}

func (s *stream) State() wire.State { return s.state }

// Doubtful implements wire.Doubtful: a terminal chunk with usage is certainly the last.
func (s *stream) Doubtful() bool { return s.usage == llm.Usage{} }

func (s *stream) Stop() llm.StopReason {
	if s.stop == llm.StopEnd && s.calls > 0 {
		return llm.StopToolUse
	}
	return s.stop
}

// Decode reads a chunk, or a list of chunks as some proxies send them.
func (s *stream) Decode(data []byte, deltas []llm.Delta) ([]llm.Delta, error) {
	if trimmed := bytes.TrimSpace(data); len(trimmed) == 0 || trimmed[0] != '[' {
		return s.decode(data, deltas)
	}
	var list []json.RawMessage
	err := json.Unmarshal(data, &list)
	if err != nil {
		return nil, wire.Malformed("a list of chunks is not JSON: %v", err)
	}
	for _, chunk := range list {
		if deltas, err = s.decode(chunk, deltas); err != nil {
			return nil, err
		}
	}
	return deltas, nil
}

func (s *stream) decode(data []byte, deltas []llm.Delta) ([]llm.Delta, error) {
	clear(s.chunk.Candidates) // encoding/json would keep the old values of members that a chunk leaves out
	s.chunk = wireChunk{Candidates: s.chunk.Candidates[:0]}
	c := &s.chunk
	if err := wire.Unmarshal(data, c); err != nil {
		return nil, wire.Malformed("a chunk is not JSON: %v", err)
	}
	switch {
	case len(c.Error) > 0 && string(c.Error) != "null", c.Event == "error":
		return nil, &wire.ReportedError{Body: data}
	case c.Prompt.Blocked != "":
		return nil, refused(failure.KindContentFilter, "blockReason", c.Prompt.Blocked, c.Prompt.Message)
	}
	if !s.started {
		s.started = true
		deltas = append(deltas, llm.Delta{Kind: llm.DeltaStart, RequestID: c.ID})
	}
	for i := range c.Candidates {
		if c.Candidates[i].Index != 0 {
			continue
		}
		var err error
		if deltas, err = s.candidate(&c.Candidates[i], deltas); err != nil {
			return nil, err
		}
	}
	return s.count(c.Usage, deltas), nil
}

// refused is a failure with a reason that the provider names. Its body holds only the reason and
// the provider's words, since the rest of the chunk may hold the model's.
func refused(kind failure.Kind, field, reason, message string) error {
	report := map[string]string{field: reason}
	if message != "" {
		report["message"] = message
	}
	body, _ := json.Marshal(report) // strings can always be encoded
	return &wire.ReportedError{Kind: kind, Body: body}
}

// candidate reads what the answer says and whether it ends. Some servers name a finishReason in
// each chunk, so one may not be the last.
func (s *stream) candidate(c *wireCandidate, deltas []llm.Delta) ([]llm.Delta, error) {
	for i := range c.Content.Parts {
		var err error
		if deltas, err = s.part(&c.Content.Parts[i], deltas); err != nil {
			return nil, err
		}
	}
	return deltas, s.finish(c)
}

func (s *stream) part(p *wireHeard, deltas []llm.Delta) ([]llm.Delta, error) {
	switch {
	case p.Call != nil:
		return s.call(p, deltas)
	case p.Thought:
		return append(deltas, llm.Delta{Kind: llm.DeltaThinking, Text: p.Text, Signature: p.Signature}), nil
	}
	if p.Text != "" {
		deltas = append(deltas, llm.Delta{Kind: llm.DeltaText, Text: p.Text})
	}
	if p.Signature != "" {
		deltas = append(deltas, llm.Delta{Kind: llm.DeltaThinking, Signature: p.Signature})
	}
	return deltas, nil
}

// call reads a call, which always comes whole.
func (s *stream) call(p *wireHeard, deltas []llm.Delta) ([]llm.Delta, error) {
	if p.Call.Name == "" {
		return nil, wire.Malformed("a function call without a name")
	}
	id := p.Call.ID
	if id == "" {
		id = s.newID()
	}
	args := "{}"
	if raw := p.Call.Args; len(raw) > 0 && string(raw) != "null" {
		args = string(bytes.ToValidUTF8(raw, []byte("\uFFFD")))
	}
	at := s.calls
	s.calls++
	return append(deltas,
		llm.Delta{Kind: llm.DeltaCall, Index: at, CallID: id, Name: p.Call.Name, Signature: p.Signature},
		llm.Delta{Kind: llm.DeltaArgs, Index: at, Text: args}), nil
}

// finish turns the reason why the answer ended into an error, unless it is a normal end. Unknown
// reasons count as failures, as all but two of the known ones do. The message of a malformed call
// repeats the model's words, so it is no evidence.
func (s *stream) finish(c *wireCandidate) error {
	switch c.Finish {
	case "", "FINISH_REASON_UNSPECIFIED":
		return nil
	case "STOP":
		s.state, s.stop = wire.Finished, llm.StopEnd
		return nil
	case "MAX_TOKENS":
		s.state, s.stop = wire.Finished, llm.StopLength
		return nil
	case "SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "MODEL_ARMOR",
		"IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION":
		return refused(failure.KindContentFilter, "finishReason", c.Finish, c.Message)
	case "MISSING_THOUGHT_SIGNATURE":
		return refused(failure.KindInvalidRequest, "finishReason", c.Finish, c.Message)
	}
	return refused(failure.KindMalformedResponse, "finishReason", c.Finish, "")
}

// count adopts the usage, which every chunk gives again.
func (s *stream) count(u *wireUsage, deltas []llm.Delta) []llm.Delta {
	if u == nil || u.tokens() == s.usage {
		return deltas
	}
	s.usage = u.tokens()
	return append(deltas, llm.Delta{Kind: llm.DeltaUsage, Usage: s.usage})
}

// tokens converts the counts: like llm.Usage, its input is without tokens from a cache.
func (u *wireUsage) tokens() llm.Usage {
	return llm.Usage{
		InputTokens:     max(0, u.Prompt-u.Cached),
		OutputTokens:    u.Candidates + u.Thoughts,
		CacheReadTokens: u.Cached,
	}
}
