package openai

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/wire"
	"github.com/mulligan-run/mulligan/wire/internal/scan"
)

// stream turns the chunks of one answer into deltas.
type stream struct {
	state    wire.State
	started  bool
	refused  bool
	heard    bool // text or a call has come
	doubtful bool // an unknown finish reason was given
	stop     llm.StopReason
	calls    []call
	server   Server
	said     digest
	chunk    wireChunk     // reused, so that a chunk costs no allocation
	choices  [1]wireChoice // room for the chunk's, of which there is nearly always one
	alike    scan.Alike
}

// maxCalls is how many tool calls an answer may have, since each piece is looked up among them.
const maxCalls = 1024

// call is a tool call that comes in pieces.
type call struct {
	index int    // on the wire
	id    string // the server's id; "" = it gave none
	told  bool
	args  arguments
	ahead int // bytes of args that came before the name
}

// wireChunk is a chunk without its id, which is read only from the first one: it would cost an
// allocation in each.
type wireChunk struct {
	Error   json.RawMessage `json:"error"`
	Choices []wireChoice    `json:"choices"`
	Usage   *wireUsage      `json:"usage"`
}

type wireChoice struct {
	Index  int             `json:"index"`
	Delta  wireDelta       `json:"delta"`
	Finish string          `json:"finish_reason"`
	Error  json.RawMessage `json:"error"`
}

type wireDelta struct {
	Content   string       `json:"content"`
	Thought   string       `json:"reasoning_content"` // DeepSeek, vLLM, and many after them
	Reasoning string       `json:"reasoning"`         // OpenRouter, Ollama
	Details   []wireDetail `json:"reasoning_details"` // OpenRouter, usually in addition to reasoning
	Refusal   string       `json:"refusal"`
	Calls     []wirePiece  `json:"tool_calls"`
}

type wireDetail struct {
	Text    string `json:"text"`
	Summary string `json:"summary"`
}

type wirePiece struct {
	Index    *int         `json:"index"`
	ID       string       `json:"id"`
	Function wireCallFunc `json:"function"`
}

type wireUsage struct {
	Prompt     int64 `json:"prompt_tokens"`
	Completion int64 `json:"completion_tokens"`
	Details    struct {
		Cached int64 `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

// NewDecoder reads the chunks of one answer of a server.
func NewDecoder(server Server) wire.Decoder { return newStream(server) }

func newStream(server Server) *stream {
	s := &stream{server: server, said: newDigest()}
	s.chunk.Choices = s.choices[:0]
	return s
}

func (s *stream) State() wire.State { return s.state }

func (s *stream) Stop() llm.StopReason {
	switch {
	case s.refused:
		return llm.StopFiltered
	case s.stop == llm.StopEnd && len(s.calls) > 0:
		return llm.StopToolUse // some servers say "stop" even so
	}
	return s.stop
}

func (s *stream) Decode(data []byte, deltas []llm.Delta) ([]llm.Delta, error) {
	if string(bytes.TrimSpace(data)) == "[DONE]" {
		if s.state == wire.Open && !s.ends() {
			return nil, wire.ErrCut // it ended without a finish_reason
		}
		s.state = wire.Done
		return deltas, nil
	}
	if err := s.read(data); err != nil {
		return nil, wire.Malformed("a chunk is not JSON: %v", err)
	}
	if wire.IsError(s.chunk.Error) || s.chunk.isBareError(data) {
		return nil, &wire.ReportedError{Body: data}
	}
	if !s.started {
		s.started = true
		deltas = append(deltas, llm.Delta{Kind: llm.DeltaStart, RequestID: chunkID(data)})
	}
	for i := range s.chunk.Choices {
		c := &s.chunk.Choices[i]
		if wire.IsError(c.Error) {
			return nil, &wire.ReportedError{Body: fmt.Appendf(nil, `{"error":%s}`, c.Error)}
		}
		if c.Index != 0 || s.state != wire.Open {
			continue
		}
		var err error
		if deltas, err = s.choice(c, data, deltas); err != nil {
			return nil, err
		}
	}
	if u := s.chunk.Usage; u != nil {
		deltas = append(deltas, llm.Delta{Kind: llm.DeltaUsage, Usage: u.tokens()})
	}
	return deltas, nil
}

// ends reports whether [DONE] alone ends the answer properly.
func (s *stream) ends() bool {
	if !s.heard || s.nameless() {
		return false
	}
	s.stop = llm.StopEnd
	return s.doubtful || s.server.Whole(uint64(s.said))
}

// nameless reports whether some tool call has no name.
func (s *stream) nameless() bool {
	return slices.ContainsFunc(s.calls, func(c call) bool { return !c.told })
}

// read decodes a chunk.
func (s *stream) read(data []byte) error {
	if text, ok := s.alike.Text(data); ok {
		s.chunk.Choices[0].Delta.Content = string(text)
		return nil
	}
	s.alike.Forget()
	err := s.parse(data)
	if err == nil && len(s.chunk.Choices) == 1 && s.chunk.Choices[0].Delta.Content != "" {
		s.alike.Learn(data, "content", hasContent)
	}
	return err
}

// hasContent reports whether a chunk's content is text.
func hasContent(chunk []byte, text string) bool {
	var only [1]wireChoice
	c := wireChunk{Choices: only[:0]}
	return wire.Unmarshal(chunk, &c) == nil && len(c.Choices) == 1 && c.Choices[0].Delta.Content == text
}

func (s *stream) parse(data []byte) error {
	clear(s.chunk.Choices) // encoding/json would keep the old values of members that a chunk leaves out
	s.chunk = wireChunk{Choices: s.chunk.Choices[:0]}
	err := wire.Unmarshal(data, &s.chunk)
	if err == nil {
		return nil
	}
	if mismatch := (*json.UnmarshalTypeError)(nil); errors.As(err, &mismatch) && strings.HasSuffix(mismatch.Field, "delta.content") {
		return s.chunk.readParts(data)
	}
	return err
}

// chunkID is a chunk's id; "" if it has none.
func chunkID(data []byte) string {
	var named struct {
		ID string `json:"id"`
	}
	_ = wire.Unmarshal(data, &named) // it is JSON
	return named.ID
}

// isBareError recognises vLLM's errors, which have neither an error member nor an id.
func (c *wireChunk) isBareError(data []byte) bool {
	if len(c.Choices) > 0 || c.Usage != nil || chunkID(data) != "" {
		return false
	}
	var kind struct {
		Object string `json:"object"`
		Type   string `json:"type"`
	}
	return json.Unmarshal(data, &kind) == nil && (kind.Object == "error" || kind.Type == "error")
}

func (s *stream) choice(c *wireChoice, data []byte, deltas []llm.Delta) ([]llm.Delta, error) {
	known, err := ending(c.Finish, data)
	if err != nil {
		return nil, err
	}
	if thought := c.Delta.thought(); thought != "" {
		deltas = append(deltas, llm.Delta{Kind: llm.DeltaThinking, Text: thought})
	}
	if c.Delta.Refusal != "" {
		s.refused = true
	}
	if text := c.Delta.Content + c.Delta.Refusal; text != "" {
		s.heard = true
		s.said.add(text)
		deltas = append(deltas, llm.Delta{Kind: llm.DeltaText, Text: text})
	}
	for i := range c.Delta.Calls {
		if deltas = s.piece(&c.Delta.Calls[i], deltas); len(s.calls) > maxCalls {
			return nil, wire.Malformed("more than %d tool calls", maxCalls)
		}
	}
	switch {
	case c.Finish == "":
		return deltas, nil
	case s.nameless():
		return nil, wire.Malformed("a tool call without a name")
	case !known:
		s.doubtful = true // it is an end if [DONE] follows
		return deltas, nil
	}
	s.server.Named()
	s.state, s.stop = wire.Finished, stopReasons[strings.ToLower(c.Finish)]
	return deltas, nil
}

// thought is a piece of reasoning, which may come under several names at once.
func (d *wireDelta) thought() string {
	if text := cmp.Or(d.Thought, d.Reasoning); text != "" {
		return text
	}
	var all strings.Builder
	for _, detail := range d.Details {
		all.WriteString(detail.Text)
		all.WriteString(detail.Summary)
	}
	return all.String()
}

// piece adds a piece of a tool call.
func (s *stream) piece(p *wirePiece, deltas []llm.Delta) []llm.Delta {
	at := s.find(p)
	c := &s.calls[at]
	if c.id == "" {
		c.id = p.ID
	}
	if !c.told && p.Function.Name != "" {
		c.told, s.heard = true, true
		s.said.add(p.Function.Name)
		deltas = append(deltas, llm.Delta{Kind: llm.DeltaCall, Index: at, CallID: s.idOf(at), Name: p.Function.Name})
	}
	c.args.add(p.Function.Args)
	if !c.told {
		c.ahead = len(c.args.text)
		return deltas
	}
	args := p.Function.Args
	if c.ahead > 0 {
		args, c.ahead = string(c.args.text), 0
	}
	if args == "" {
		return deltas
	}
	s.said.add(args)
	return append(deltas, llm.Delta{Kind: llm.DeltaArgs, Index: at, Text: args})
}

// idOf is the id under which a call is passed on: its own, unless it has none or an earlier call
// has the same one.
func (s *stream) idOf(at int) string {
	id := s.calls[at].id
	if id == "" || slices.ContainsFunc(s.calls[:at], func(c call) bool { return c.id == id }) {
		return s.server.NewID()
	}
	return id
}

// find is the index of the call that p belongs to: the call with p's index, unless p has another
// id, which begins a new call. Without an index it is the call with p's id, or the last one. A
// piece with a name for a call that already has complete arguments begins a new call.
func (s *stream) find(p *wirePiece) int {
	for at := len(s.calls) - 1; at >= 0; at-- {
		c := &s.calls[at]
		same := p.ID == "" || c.id == "" || p.ID == c.id
		if same && (p.Index == nil || *p.Index == c.index) {
			if p.Function.Name != "" && c.told && (p.Index == nil && p.ID == "" || c.args.whole()) {
				break // neither index nor id, or the call is complete: a name begins a new call
			}
			return at
		}
	}
	index := len(s.calls)
	if p.Index != nil {
		index = *p.Index
	}
	s.calls = append(s.calls, call{index: index, id: p.ID})
	return len(s.calls) - 1
}

// tokens converts the counts: like llm.Usage, its input is without tokens from a cache.
func (u *wireUsage) tokens() llm.Usage {
	return llm.Usage{
		InputTokens:     max(0, u.Prompt-u.Details.Cached),
		OutputTokens:    u.Completion,
		CacheReadTokens: u.Details.Cached,
	}
}
