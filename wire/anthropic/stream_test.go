package anthropic

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/wire"
)

// decode folds events, one a line.
func decode(events string) (llm.Answer, *stream, error) {
	var answer llm.Answer
	s := &stream{}
	for line := range strings.Lines(events) {
		deltas, err := s.Decode([]byte(strings.TrimSpace(line)), nil)
		if err != nil {
			return answer, s, err
		}
		for _, d := range deltas {
			answer.Add(d)
		}
	}
	return answer, s, nil
}

const whole = `{"type":"message_start","message":{"id":"msg_1","usage":{"input_tokens":5,"cache_read_input_tokens":7,"cache_creation_input_tokens":2,"output_tokens":1}}}
{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}
{"type":"ping"}
{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}
{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"c2ln"}}
{"type":"content_block_stop","index":0}
{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"cmVk"}}
{"type":"content_block_stop","index":1}
{"type":"something_new","x":1}
{"type":"content_block_start","index":2,"content_block":{"type":"hologram"}}
{"type":"content_block_delta","index":2,"delta":{"type":"light_delta"}}
{"type":"content_block_stop","index":2}
{"type":"content_block_start","index":3,"content_block":{"type":"text","text":""}}
{"type":"content_block_delta","index":3,"delta":{"type":"text_delta","text":"Hi"}}
{"type":"content_block_stop","index":3}
{"type":"content_block_start","index":4,"content_block":{"type":"tool_use","id":"t1","name":"f","input":{}}}
{"type":"content_block_delta","index":4,"delta":{"type":"input_json_delta","partial_json":""}}
{"type":"content_block_delta","index":4,"delta":{"type":"input_json_delta","partial_json":"{\"x\":1}"}}
{"type":"content_block_stop","index":4}
{"type":"content_block_start","index":5,"content_block":{"type":"tool_use","id":"t2","name":"g","input":{"y":2}}}
{"type":"content_block_stop","index":5}
{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":9}}
{"type":"message_stop"}`

func TestWholeAnswer(t *testing.T) {
	answer, s, err := decode(whole)
	m := answer.Message("")
	if err != nil || s.State() != wire.Done || s.Stop() != llm.StopToolUse || m.Text() != "Hi" || len(m.Parts) != 5 {
		t.Fatalf("%v %+v", err, m)
	}
	if m.Parts[0].Thinking.Text != "hm" || m.Parts[0].Thinking.Signature != "c2ln" || m.Parts[1].Thinking.Redacted != "cmVk" {
		t.Errorf("%+v %+v", m.Parts[0].Thinking, m.Parts[1].Thinking)
	}
	if calls := m.Calls(); string(calls[0].Args) != `{"x":1}` || string(calls[1].Args) != `{"y":2}` {
		t.Errorf("%+v", calls)
	}
	if answer.Usage != (llm.Usage{InputTokens: 5, OutputTokens: 9, CacheReadTokens: 7, CacheWriteTokens: 2}) {
		t.Errorf("%+v", answer.Usage)
	}
}

func TestEveryCutIsOpen(t *testing.T) {
	lines := strings.SplitAfter(whole, "\n")
	for n := range lines {
		if _, s, err := decode(strings.Join(lines[:n], "")); err != nil || s.State() != wire.Open {
			t.Errorf("after %d events: %v, %v", n, s.State(), err)
		}
	}
}

func TestStopReasons(t *testing.T) {
	for reason, want := range map[string]llm.StopReason{
		"end_turn": llm.StopEnd, "stop_sequence": llm.StopEnd, "pause_turn": llm.StopEnd, "new": llm.StopEnd,
		"max_tokens": llm.StopLength, "refusal": llm.StopFiltered, "tool_use": llm.StopToolUse,
	} {
		if _, s, _ := decode(`{"type":"message_delta","delta":{"stop_reason":"` + reason + `"}}`); s.Stop() != want {
			t.Errorf("%s: %s", reason, s.Stop())
		}
	}
}

func TestMalformed(t *testing.T) {
	for _, in := range []string{
		"{", `[]`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"x"}}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"text"}}` + "\n" + `{"type":"message_stop"}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"x"}}`,
		`{"type":"message_start","message":{}}` + "\n" + `{"type":"message_start","message":{}}`,
		textBlock(0) + textBlock(0),
		textBlock(1) + textBlock(0),
		`{"type":"content_block_start","index":0,"content_block":{"type":"text"}}` + "\n" + textBlock(1),
		textBlock(0) + `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"x"}}`,
	} {
		if _, _, err := decode(in); !errors.Is(err, wire.ErrMalformed) {
			t.Errorf("%s: %v", in, err)
		}
	}
}

// textBlock is a whole block of text.
func textBlock(index int) string {
	return fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":{"type":"text","text":"a"}}
{"type":"content_block_stop","index":%d}
`, index, index)
}

func TestReported(t *testing.T) {
	for _, in := range []string{
		`{"type":"error","error":{"type":"overloaded_error"}}`,
		`{"error":{"message":"upstream","type":"server_error"}}`, // as a gateway of OpenAI's wire has it
		`{"error":"boom"}`,
		`{"type":"message_delta","delta":{"stop_reason":"model_context_window_exceeded"}}`,
	} {
		answer, s, err := decode(textBlock(0) + in)
		reported := (*wire.ReportedError)(nil)
		if !errors.As(err, &reported) || string(reported.Body) != in || s.State() != wire.Open || answer.Message("").Text() != "a" {
			t.Errorf("%s: %v", in, err)
		}
	}
	if _, _, err := decode(`{"type":"ping","error":null}`); err != nil {
		t.Error(err)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(whole))
	f.Add([]byte("{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\xff\xc3\"}}"))
	f.Fuzz(func(t *testing.T, in []byte) {
		if answer, _, _ := decode(string(in)); !utf8.ValidString(answer.Message("").Text()) {
			t.Error("not UTF-8")
		}
	})
}
