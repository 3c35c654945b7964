package anthropic

import (
	"encoding/json"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/wire"
)

// stream turns the events of one answer into deltas.
type stream struct {
	state wire.State
	stop  llm.StopReason
	usage llm.Usage

	started bool            // message_start was seen
	next    int             // the highest index of a block so far, plus one
	block   int             // the open block
	inBlock string          // its type; "" = no block is open
	input   json.RawMessage // the arguments in a tool_use block itself, until deltas replace them
	event   wireEvent       // reused, so that an event costs no allocation
}

type wireEvent struct {
	Type    string          `json:"type"`
	Error   json.RawMessage `json:"error"`
	Index   int             `json:"index"`
	Message struct {
		ID    string    `json:"id"`
		Usage wireUsage `json:"usage"`
	} `json:"message"`
	Block struct {
		Type  string          `json:"type"`
		ID    string          `json:"id"`
		Name  string          `json:"name"`
		Text  string          `json:"text"`
		Data  string          `json:"data"`
		Input json.RawMessage `json:"input"`
	} `json:"content_block"`
	Delta struct {
		Type      string `json:"type"`
		Text      string `json:"text"`
		Thinking  string `json:"thinking"`
		Signature string `json:"signature"`
		JSON      string `json:"partial_json"`
		Stop      string `json:"stop_reason"`
	} `json:"delta"`
	Usage *wireUsage `json:"usage"`
}

type wireUsage struct {
	Input      int64 `json:"input_tokens"`
	Output     int64 `json:"output_tokens"`
	CacheRead  int64 `json:"cache_read_input_tokens"`
	CacheWrite int64 `json:"cache_creation_input_tokens"`
}

// NewDecoder reads the events of one answer.
func NewDecoder() wire.Decoder { return &stream{} }

func (s *stream) State() wire.State { return s.state }

func (s *stream) Stop() llm.StopReason {
	if s.stop == "" {
		return llm.StopEnd
	}
	return s.stop
}

func (s *stream) Decode(data []byte, deltas []llm.Delta) ([]llm.Delta, error) {
	s.event = wireEvent{}
	e := &s.event
	if err := wire.Unmarshal(data, e); err != nil {
		return nil, wire.Malformed("an event is not JSON: %v", err)
	}
	if e.Type == "error" || wire.IsError(e.Error) {
		return nil, &wire.ReportedError{Body: data} // gateways report errors without a type
	}
	switch e.Type {
	case "message_start":
		return s.start(deltas)
	case "content_block_start":
		return s.begin(deltas)
	case "content_block_delta":
		return s.goOn(deltas)
	case "content_block_stop":
		deltas = s.flush(deltas)
		s.inBlock = ""
	case "message_delta":
		if e.Delta.Stop == overflow {
			return nil, &wire.ReportedError{Body: data}
		}
		return s.end(deltas), nil
	case "message_stop":
		if s.inBlock != "" {
			return nil, wire.Malformed("the message ended within a block")
		}
		s.state = wire.Done
	}
	return deltas, nil
}

// overflow is the stop reason of an answer that did not fit into the context window.
const overflow = "model_context_window_exceeded"

// start reads message_start. A second one belongs to another answer, or repeats this one.
func (s *stream) start(deltas []llm.Delta) ([]llm.Delta, error) {
	if s.started {
		return nil, wire.Malformed("a second message_start")
	}
	s.started = true
	s.use(s.event.Message.Usage)
	return append(deltas, llm.Delta{Kind: llm.DeltaStart, RequestID: s.event.Message.ID}, s.used()), nil
}

// begin opens a block. Blocks come one after another, with rising indexes.
func (s *stream) begin(deltas []llm.Delta) ([]llm.Delta, error) {
	e := &s.event
	switch {
	case s.inBlock != "":
		return nil, wire.Malformed("block %d begins within block %d", e.Index, s.block)
	case e.Index < s.next:
		return nil, wire.Malformed("block %d begins again", e.Index)
	}
	s.block, s.inBlock, s.input, s.next = e.Index, e.Block.Type, nil, e.Index+1
	switch {
	case e.Block.Type == "":
		return nil, wire.Malformed("a block without a type")
	case e.Block.Type == "tool_use" && e.Block.Name == "":
		return nil, wire.Malformed("a tool call without a name")
	case e.Block.Type == "tool_use":
		if len(e.Block.Input) > len("{}") {
			s.input = e.Block.Input
		}
		return append(deltas, llm.Delta{Kind: llm.DeltaCall, Index: e.Index, CallID: e.Block.ID, Name: e.Block.Name}), nil
	case e.Block.Type == "redacted_thinking":
		return append(deltas, llm.Delta{Kind: llm.DeltaThinking, Redacted: e.Block.Data}), nil
	case e.Block.Type == "text" && e.Block.Text != "":
		return append(deltas, llm.Delta{Kind: llm.DeltaText, Text: e.Block.Text}), nil
	}
	return deltas, nil
}

// goOn continues the open block.
func (s *stream) goOn(deltas []llm.Delta) ([]llm.Delta, error) {
	e := &s.event
	if s.inBlock == "" || e.Index != s.block {
		return nil, wire.Malformed("a delta for block %d, which is not open", e.Index)
	}
	switch e.Delta.Type {
	case "text_delta":
		return append(deltas, llm.Delta{Kind: llm.DeltaText, Text: e.Delta.Text}), nil
	case "thinking_delta":
		return append(deltas, llm.Delta{Kind: llm.DeltaThinking, Text: e.Delta.Thinking}), nil
	case "signature_delta":
		return append(deltas, llm.Delta{Kind: llm.DeltaThinking, Signature: e.Delta.Signature}), nil
	case "input_json_delta":
		if s.inBlock != "tool_use" || e.Delta.JSON == "" {
			return deltas, nil
		}
		s.input = nil
		return append(deltas, llm.Delta{Kind: llm.DeltaArgs, Index: e.Index, Text: e.Delta.JSON}), nil
	}
	return deltas, nil
}

// flush appends the arguments that came in the block itself, as some servers send them.
func (s *stream) flush(deltas []llm.Delta) []llm.Delta {
	if s.input == nil {
		return deltas
	}
	text := string(s.input)
	s.input = nil
	return append(deltas, llm.Delta{Kind: llm.DeltaArgs, Index: s.block, Text: text})
}

// end reads how the message ended, and its usage.
func (s *stream) end(deltas []llm.Delta) []llm.Delta {
	if reason := s.event.Delta.Stop; reason != "" {
		s.stop = stopReason(reason)
	}
	if s.event.Usage == nil {
		return deltas
	}
	s.use(*s.event.Usage)
	return append(deltas, s.used())
}

// use adopts the counts in u; later counts include earlier ones.
func (s *stream) use(u wireUsage) {
	s.usage.InputTokens = max(s.usage.InputTokens, u.Input)
	s.usage.OutputTokens = max(s.usage.OutputTokens, u.Output)
	s.usage.CacheReadTokens = max(s.usage.CacheReadTokens, u.CacheRead)
	s.usage.CacheWriteTokens = max(s.usage.CacheWriteTokens, u.CacheWrite)
}

func (s *stream) used() llm.Delta { return llm.Delta{Kind: llm.DeltaUsage, Usage: s.usage} }

func stopReason(reason string) llm.StopReason {
	switch reason {
	case "tool_use":
		return llm.StopToolUse
	case "max_tokens":
		return llm.StopLength
	case "refusal":
		return llm.StopFiltered
	}
	return llm.StopEnd // end_turn, stop_sequence, pause_turn, and reasons not known yet
}
