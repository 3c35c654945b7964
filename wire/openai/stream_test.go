package openai

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/wire"
)

// decode folds chunks, one a line.
func decode(chunks string) (llm.Answer, *stream, error) {
	var answer llm.Answer
	s := newStream(&plain{})
	for line := range strings.Lines(chunks) {
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

// pieces makes a chunk of tool call pieces.
func pieces(list string) string {
	return `{"choices":[{"index":0,"delta":{"tool_calls":[` + list + `]}}]}` + "\n"
}

const finish = `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n"

func TestToolCallPieces(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"by index": {
			pieces(`{"index":0,"id":"a","function":{"name":"f","arguments":""}}`) + pieces(`{"index":0,"function":{"arguments":"{}"}}`) +
				pieces(`{"index":1,"id":"b","function":{"name":"g","arguments":"{\"x\":"}}`) + pieces(`{"index":1,"function":{"arguments":"1}"}}`),
			`f(a,{}) g(b,{"x":1})`,
		},
		"interleaved": {
			pieces(`{"index":0,"id":"a","function":{"name":"f"}},{"index":1,"id":"b","function":{"name":"g"}}`) +
				pieces(`{"index":1,"function":{"arguments":"{}"}},{"index":0,"function":{"arguments":"{\"x\":1}"}}`),
			`f(a,{"x":1}) g(b,{})`,
		},
		"id repeated": {
			pieces(`{"index":0,"id":"a","function":{"name":"f","arguments":"{"}}`) + pieces(`{"index":0,"id":"a","function":{"arguments":"}"}}`),
			`f(a,{})`,
		},
		"every index 0": {
			pieces(`{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}`) + pieces(`{"index":0,"id":"b","function":{"name":"g","arguments":"{}"}}`),
			`f(a,{}) g(b,{})`,
		},
		"no index": {
			pieces(`{"id":"a","function":{"name":"f","arguments":"{"}}`) + pieces(`{"function":{"arguments":"}"}}`) + pieces(`{"id":"b","function":{"name":"g","arguments":"{}"}}`),
			`f(a,{}) g(b,{})`,
		},
		"name after arguments": {pieces(`{"index":0,"id":"a","function":{"arguments":"{\"x\""}}`) + pieces(`{"index":0,"function":{"name":"f","arguments":":1}"}}`), `f(a,{"x":1})`},
	} {
		answer, s, err := decode(c.in + finish)
		var got []string
		for _, call := range answer.Message("").Calls() {
			got = append(got, call.Name+"("+call.ID+","+string(call.Args)+")")
		}
		if err != nil || strings.Join(got, " ") != c.want || s.Stop() != llm.StopToolUse {
			t.Errorf("%s: %v %v %s", name, got, err, s.Stop())
		}
	}
	answer, _, _ := decode(pieces(`{"function":{"name":"f","arguments":"{}"}}`) + pieces(`{"function":{"name":"g","arguments":"{}"}}`) + finish)
	calls := answer.Message("").Calls()
	if len(calls) != 2 || calls[0].ID == calls[1].ID || calls[0].ID == "" {
		t.Errorf("without ids: %+v", calls)
	}
}

func TestEnds(t *testing.T) {
	for in, want := range map[string]llm.StopReason{
		`{"choices":[{"delta":{"content":"x"},"finish_reason":"length"}]}`:              llm.StopLength,
		`{"choices":[{"delta":{"content":"x"},"finish_reason":"content_filter"}]}`:      llm.StopFiltered,
		`{"choices":[{"delta":{"refusal":"I will not."},"finish_reason":"stop"}]}`:      llm.StopFiltered,
		`{"choices":[{"delta":{"reasoning_content":"hm"}}]}` + "\n" + finish + "[DONE]": llm.StopEnd,
	} {
		if _, s, err := decode(in); err != nil || s.Stop() != want || s.State() == wire.Open {
			t.Errorf("%s: %v %s", in, err, s.Stop())
		}
	}
	if _, _, err := decode("[DONE]"); !errors.Is(err, wire.ErrCut) {
		t.Errorf("[DONE]: %v", err)
	}
	for _, in := range []string{"{", pieces(`{"index":0,"id":"a"}`) + finish} {
		if _, _, err := decode(in); !errors.Is(err, wire.ErrMalformed) {
			t.Errorf("%s: %v", in, err)
		}
	}
}

func TestReported(t *testing.T) {
	for in, want := range map[string]string{
		`{"error":{"message":"boom"}}`: "",
		`{"error":"boom"}`:             "", // Ollama
		`{"choices":[{"error":{"code":502},"finish_reason":"error","delta":{}}]}`:                                                                       `{"error":{"code":502}}`,
		`{"object":"error","message":"boom","type":"InternalServerError","code":500}`:                                                                   "", // vLLM
		`{"choices":[{"delta":{},"finish_reason":"network_error"}]}`:                                                                                    "", // z.ai
		`{"id":"gen-1","choices":[{"delta":{"content":""},"finish_reason":"error"}],"error":{"code":"server_error","message":"Provider disconnected"}}`: "",
	} {
		_, s, err := decode(in)
		if want == "" {
			want = in
		}
		if reported := (*wire.ReportedError)(nil); !errors.As(err, &reported) || string(reported.Body) != want || s.State() != wire.Open {
			t.Errorf("%s: %v", in, err)
		}
	}
}

// TestFinishReasons has what servers are known to say. Nothing but a known good
// ending is an answer.
func TestFinishReasons(t *testing.T) {
	for reason, want := range map[string]llm.StopReason{
		"stop": llm.StopEnd, "STOP": llm.StopEnd, "eos": llm.StopEnd, "eos_token": llm.StopEnd, "end_turn": llm.StopEnd, "stop_sequence": llm.StopEnd,
		"tool_calls": llm.StopToolUse, "function_call": llm.StopToolUse, "tool_use": llm.StopToolUse,
		"length": llm.StopLength, "max_tokens": llm.StopLength, "model_length": llm.StopLength,
		"content_filter": llm.StopFiltered, "SAFETY": llm.StopFiltered,
		"network_error": "", "error": "", "abort": "", "insufficient_system_resource": "", "load": "", "end": llm.StopEnd,
	} {
		_, s, err := decode(`{"choices":[{"delta":{},"finish_reason":"` + reason + `"}]}`)
		if s.Stop() != want || (err == nil) != (want != "") || (s.State() == wire.Finished) != (want != "") {
			t.Errorf("%s: %q, %v", reason, s.Stop(), err)
		}
	}
	if _, s, err := decode(`{"choices":[{"delta":{"content":"x"},"finish_reason":"unheard-of"}]}`); err != nil || s.State() != wire.Open {
		t.Error("what nobody knows is an end only where [DONE] follows", err)
	}
	if _, s, err := decode(`{"choices":[{"delta":{"content":"x"},"finish_reason":null}]}`); err != nil || s.State() != wire.Open {
		t.Error("null is no end", err)
	}
}

func TestReasoning(t *testing.T) {
	for in, want := range map[string]string{
		`{"reasoning_content":"hm"}`:                  "hm",
		`{"reasoning":"hm"}`:                          "hm",
		`{"reasoning_content":"hm","reasoning":"hm"}`: "hm",
		`{"reasoning":"hm","reasoning_details":[{"type":"reasoning.text","text":"hm"}]}`:                 "hm",
		`{"reasoning_details":[{"type":"reasoning.summary","summary":"h"},{"text":"m"},{"data":"x"}]}`:   "hm",
		`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}]}`:                     "hm",
		`{"content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"Hi"},{"type":"light"}]}`: "hm|Hi",
		`{"content":[{"type":"text","text":"Hi"}]}`:                                                      "|Hi",
		`{"content":null,"reasoning":null,"reasoning_details":null}`:                                     "",
	} {
		answer, _, err := decode(`{"choices":[{"index":0,"delta":` + in + `}]}` + "\n" + finish)
		got := ""
		for _, p := range answer.Message("").Parts {
			if p.Thinking != nil {
				got += p.Thinking.Text
				continue
			}
			got += "|" + p.Text
		}
		if err != nil || got != want {
			t.Errorf("%s: %q, %v", in, got, err)
		}
	}
	if _, _, err := decode(`{"choices":[{"delta":{"content":7}}]}`); !errors.Is(err, wire.ErrMalformed) {
		t.Errorf("content that is a number: %v", err)
	}
}

func TestUsage(t *testing.T) {
	answer, _, _ := decode(finish + `{"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":4}}}`)
	if answer.Usage != (llm.Usage{InputTokens: 6, OutputTokens: 3, CacheReadTokens: 4}) {
		t.Errorf("%+v", answer.Usage)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(pieces(`{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}`) + finish))
	f.Add([]byte(`{"choices":[{"delta":{"content":[{"type":"thinking","thinking":[{"text":"a"}]},{"type":"text","text":"b"}]}}]}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		answer, _, err := decode(string(in))
		if _, bad := json.Marshal(answer.Message("").Text()); err == nil && bad != nil {
			t.Error(bad)
		}
	})
}

// plain is a server that nothing is known of.
type plain struct{ calls int }

func (s *plain) NewID() string     { s.calls++; return fmt.Sprintf("call_%d", s.calls) }
func (s *plain) Named()            {}
func (s *plain) Whole(uint64) bool { return false }
