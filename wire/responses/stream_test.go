package responses

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/wire"
)

// decode folds events, one a line.
func decode(events string) (llm.Answer, *stream, error) {
	var answer llm.Answer
	s := newStream(ids())
	for line := range strings.Lines(events) {
		deltas, err := s.Decode([]byte(strings.TrimSpace(line)), nil)
		for _, d := range deltas {
			answer.Add(d)
		}
		if err != nil {
			return answer, s, err
		}
	}
	return answer, s, nil
}

// event is an event without a sequence number, and with the members given.
func event(name, members string) string {
	if members != "" {
		members = "," + members
	}
	return fmt.Sprintf(`{"type":%q%s}`+"\n", "response."+name, members)
}

const whole = `{"type":"response.created","sequence_number":0,"response":{"id":"resp_1","status":"in_progress","error":null,"incomplete_details":null,"usage":null}}
{"type":"response.in_progress","sequence_number":1,"response":{"id":"resp_1"}}
{"type":"response.output_item.added","sequence_number":2,"output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"half"}}
{"type":"response.reasoning_summary_text.delta","sequence_number":3,"output_index":0,"summary_index":0,"delta":"h"}
{"type":"response.reasoning_summary_text.delta","sequence_number":4,"output_index":0,"summary_index":0,"delta":"m"}
{"type":"keepalive","sequence_number":5,"x":null}
{"type":"response.reasoning_summary_text.delta","sequence_number":6,"output_index":0,"summary_index":1,"delta":"so"}
{"type":"response.output_item.done","sequence_number":7,"output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"hm"},{"type":"summary_text","text":"so"}],"encrypted_content":"sealed"}}
{"type":"response.output_item.added","sequence_number":8,"output_index":1,"item":{"id":"msg_1","type":"message","role":"assistant","content":[]}}
{"type":"response.content_part.added","sequence_number":9,"output_index":1,"content_index":0,"part":{"type":"output_text","text":""}}
{"type":"response.output_text.delta","sequence_number":10,"output_index":1,"content_index":0,"delta":"H"}
{"type":"response.output_text.delta","sequence_number":11,"output_index":1,"content_index":0,"delta":"i"}
{"type":"response.output_text.done","sequence_number":12,"output_index":1,"content_index":0,"text":"Hi"}
{"type":"response.output_item.done","sequence_number":13,"output_index":1,"item":{"id":"msg_1","type":"message","content":[{"type":"output_text","text":"Hi"}]}}
{"type":"response.output_item.added","sequence_number":14,"output_index":2,"item":{"id":"fc_1","type":"function_call","call_id":"call_1","name":"f","arguments":""}}
{"type":"response.output_item.added","sequence_number":15,"output_index":3,"item":{"id":"fc_2","type":"function_call","call_id":"call_2","name":"g","arguments":""}}
{"type":"response.function_call_arguments.delta","sequence_number":16,"output_index":3,"delta":"{\"y\":2}"}
{"type":"response.function_call_arguments.delta","sequence_number":17,"output_index":2,"delta":"{\"x\""}
{"type":"response.function_call_arguments.done","sequence_number":18,"output_index":2,"arguments":"{\"x\":1}"}
{"type":"response.output_item.done","sequence_number":19,"output_index":2,"item":{"type":"function_call","arguments":"{\"x\":1}"}}
{"type":"response.output_item.done","sequence_number":20,"output_index":3,"item":{"type":"function_call","arguments":"{\"y\":2}"}}
{"type":"response.completed","sequence_number":21,"response":{"id":"resp_1","status":"completed","usage":{"input_tokens":12,"input_tokens_details":{"cached_tokens":7},"output_tokens":9}}}`

func checkWhole(t *testing.T, answer llm.Answer, s *stream, err error) {
	t.Helper()
	m := answer.Message("")
	if err != nil || s.State() != wire.Done || s.Stop() != llm.StopToolUse || m.Text() != "Hi" || len(m.Parts) != 4 || answer.RequestID != "resp_1" {
		t.Fatalf("%v %+v", err, m)
	}
	if thought := m.Parts[0].Thinking; thought.Text != "hm\n\nso" || thought.Signature != `{"id":"rs_1","encrypted_content":"sealed"}` {
		t.Errorf("%+v", thought)
	}
	if got := spell(m.Calls()); got != `f(call_1,{"x":1}) g(call_2,{"y":2})` {
		t.Error(got)
	}
	if answer.Usage != (llm.Usage{InputTokens: 5, OutputTokens: 9, CacheReadTokens: 7}) {
		t.Errorf("%+v", answer.Usage)
	}
}

func spell(calls []llm.ToolCall) string {
	var out []string
	for _, c := range calls {
		out = append(out, c.Name+"("+c.ID+","+string(c.Args)+")")
	}
	return strings.Join(out, " ")
}

func TestWholeAnswer(t *testing.T) {
	answer, s, err := decode(whole)
	checkWhole(t, answer, s, err)
}

// TestPlayedAgain: a proxy repeats each event, or all of them from the beginning.
func TestPlayedAgain(t *testing.T) {
	lines := strings.SplitAfter(whole, "\n")
	last := len(lines) - 1
	var twice string
	for _, line := range lines[:last] {
		twice += line + line
	}
	for n := range last {
		before := strings.Join(lines[:n], "")
		answer, s, err := decode(before + before + strings.Join(lines[n:], ""))
		checkWhole(t, answer, s, err)
	}
	answer, s, err := decode(twice + lines[last])
	checkWhole(t, answer, s, err)
}

// TestNobodyCounts: servers without sequence numbers, or with the same one each time.
func TestNobodyCounts(t *testing.T) {
	for _, number := range []string{"", `"sequence_number":0,`, `"sequence_number":-1,`, `"sequence_number":null,`} {
		in := regexp.MustCompile(`"sequence_number":\d+,`).ReplaceAllString(whole, number)
		answer, s, err := decode(in)
		if err != nil || s.Stop() != llm.StopToolUse || answer.Message("").Text() != "Hi" {
			t.Errorf("%s %v %+v", number, err, answer)
		}
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

const (
	addMessage = `{"type":"response.output_item.added","output_index":0,"item":{"type":"message"}}` + "\n"
	addCall    = `{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","id":"fc_1","call_id":"c","name":"f"}}` + "\n"
	callDone   = `{"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","arguments":"{\"x\":1}"}}` + "\n"
	completed  = `{"type":"response.completed"}` + "\n"
)

func argsDelta(args string) string {
	return event("function_call_arguments.delta", fmt.Sprintf(`"output_index":0,"delta":%q`, args))
}

func argsDone(args string) string {
	return event("function_call_arguments.done", fmt.Sprintf(`"output_index":0,"arguments":%q`, args))
}

func TestArguments(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"deltas only":      {addCall + argsDelta(`{"x"`) + argsDelta(`:1}`) + event("output_item.done", `"output_index":0`), `f(c,{"x":1})`},
		"done only":        {addCall + argsDone(`{"x":1}`) + callDone, `f(c,{"x":1})`},
		"item only":        {addCall + callDone, `f(c,{"x":1})`},
		"half in deltas":   {addCall + argsDelta(`{"x"`) + callDone, `f(c,{"x":1})`},
		"done after item":  {addCall + callDone + argsDone(`{"x":1}`), `f(c,{"x":1})`},
		"no arguments":     {addCall + event("output_item.done", `"output_index":0,"item":{"type":"function_call","arguments":""}`), `f(c,{})`},
		"without call id":  {strings.Replace(addCall, `,"call_id":"c"`, "", 1) + callDone, `f(fc_1,{"x":1})`},
		"deltas of a text": {addMessage + argsDelta("x") + argsDone("y"), ``},
	} {
		answer, _, err := decode(c.in + completed)
		if got := spell(answer.Message("").Calls()); err != nil || got != c.want {
			t.Errorf("%s: %v %s", name, err, got)
		}
	}
	answer, _, _ := decode(strings.Replace(addCall, `"id":"fc_1","call_id":"c",`, "", 1) + callDone)
	if calls := answer.Message("").Calls(); len(calls) != 1 || calls[0].ID == "" {
		t.Errorf("without ids: %+v", calls)
	}
}

func TestWithoutDeltas(t *testing.T) {
	answer, s, err := decode(`{"type":"response.output_item.added","output_index":0,"item":{"type":"reasoning"}}
{"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","summary":[{"text":"hm"},{"text":"so"}]}}
{"type":"response.output_item.added","output_index":1,"item":{"type":"message"}}
{"type":"response.output_item.done","output_index":1,"item":{"type":"message","content":[{"type":"output_text","text":"Hi"}]}}
{"type":"response.completed"}`)
	m := answer.Message("")
	if err != nil || s.Stop() != llm.StopEnd || m.Text() != "Hi" || len(m.Parts) != 2 || m.Parts[0].Thinking.Text != "hm\n\nso" || m.Parts[0].Thinking.Signature != "" {
		t.Errorf("%v %+v", err, m)
	}
}

func TestEnds(t *testing.T) {
	text := addMessage + event("output_text.delta", `"output_index":0,"delta":"x"`)
	incomplete := func(reason string) string {
		return event("incomplete", `"response":{"status":"incomplete","incomplete_details":{"reason":"`+reason+`"},"usage":{"input_tokens":3}}`)
	}
	for in, want := range map[string]llm.StopReason{
		text + completed: llm.StopEnd,
		text + event("completed", `"response":{"incomplete_details":null,"usage":null}`): llm.StopEnd,
		addCall + callDone + completed:                                                            llm.StopToolUse,
		text + incomplete("max_output_tokens"):                                                    llm.StopLength,
		addCall + argsDelta(`{"x"`) + incomplete("max_output_tokens"):                             llm.StopLength,
		text + incomplete("content_filter"):                                                       llm.StopFiltered,
		addMessage + event("refusal.delta", `"output_index":0,"delta":"I will not."`) + completed: llm.StopFiltered,
		addMessage + event("output_item.done", `"output_index":0,"item":{"type":"message","content":[{"refusal":"I will not."}]}`) + completed: llm.StopFiltered,
	} {
		answer, s, err := decode(in)
		if err != nil || s.Stop() != want || s.State() != wire.Done {
			t.Errorf("%s: %v %s", in, err, s.Stop())
		}
		if strings.Contains(in, "I will not.") && answer.Message("").Text() != "I will not." {
			t.Errorf("%s: %+v", in, answer.Message(""))
		}
		if strings.Contains(in, "input_tokens") && answer.Usage.InputTokens != 3 {
			t.Errorf("%s: %+v", in, answer.Usage)
		}
	}
}

func TestReported(t *testing.T) {
	for in, want := range map[string]string{
		`{"type":"error","code":"rate_limit_exceeded","message":"slow","param":null,"sequence_number":7}`:    "",
		`{"type":"error","code":502,"message":"x","delta":{}}`:                                               "",
		`{"type":"error","sequence_number":0,"error":{"code":"context_length_exceeded"}}`:                    "",
		`{"error":{"message":"boom"}}`:                                                                       "",
		`{"type":"response.failed","response":{"instructions":"Error 429","error":{"code":"server_error"}}}`: `{"error":{"code":"server_error"}}`,
		`{"type":"response.failed","response":{"error":null}}`:                                               "",
		`{"type":"response.failed"}`:                                                                         "",
		`{"type":"response.cancelled"}`:                                                                      "",
	} {
		if want == "" {
			want = in
		}
		_, s, err := decode(whole[:strings.LastIndex(whole, "\n")+1] + in)
		if reported := (*wire.ReportedError)(nil); !errors.As(err, &reported) || string(reported.Body) != want || s.State() != wire.Open {
			t.Errorf("%s: %v", in, err)
		}
	}
	answer, _, _ := decode(`{"type":"response.failed","response":{"usage":{"input_tokens":3},"error":{"code":"server_error"}}}`)
	if answer.Usage.InputTokens != 3 {
		t.Errorf("usage %+v", answer.Usage)
	}
}

func TestMalformed(t *testing.T) {
	for _, in := range []string{
		"{", `[]`, `{"type":5}`, "[DONE]",
		addMessage + event("output_text.delta", `"output_index":1,"delta":"x"`),
		event("output_text.delta", `"delta":"x"`),
		event("output_item.done", `"output_index":4`),
		argsDone("{}"),
		addMessage + addMessage,
		addMessage + `{"type":"response.created"}`,
		addMessage + event("output_text.delta", `"output_index":0,"delta":{}`),
		addCall + callDone + callDone,
		addCall + callDone + argsDelta("x"),
		addCall + argsDelta(`{"y"`) + argsDone(`{"x":1}`),
		addCall + argsDelta(`{"x":1}`) + argsDone(`{"x"`),
		addCall + argsDelta(`{"y"`) + callDone,
		addCall + argsDelta(`{"x"`) + completed,
		strings.Replace(addCall, `"name":"f"`, `"name":""`, 1),
		event("output_item.added", `"output_index":0,"item":{"type":"function_call","name":5}`),
		event("completed", `"response":5`),
		whole[:strings.LastIndex(whole, "\n")+1] + "[DONE]",
	} {
		if _, _, err := decode(in); !errors.Is(err, wire.ErrMalformed) {
			t.Errorf("%s: %v", in, err)
		}
	}
}

// TestSignsOfLife: what we do not know means nothing, whatever its form.
func TestSignsOfLife(t *testing.T) {
	for _, in := range []string{
		`{}`, `null`, `{"type":"keepalive"}`, `{"type":"response.audio.delta","delta":{"x":1},"output_index":"?"}`,
		event("output_text.annotation.added", `"output_index":9`), event("queued", ""),
		event("output_item.added", `"output_index":0,"item":{"type":"tool_search_call","arguments":{"a":1}}`) + event("output_item.done", `"output_index":0,"item":{"type":"tool_search_call","arguments":{"a":1}}`),
		event("output_item.added", "") + event("output_item.done", ""),
	} {
		s := newStream(ids())
		for line := range strings.Lines(in) {
			if deltas, err := s.Decode([]byte(line), nil); err != nil || len(deltas) != 0 || s.State() != wire.Open {
				t.Errorf("%s: %v, %v", line, deltas, err)
			}
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(whole))
	f.Add([]byte(addCall + argsDelta(`{"x"`) + callDone + completed))
	f.Add([]byte(addMessage + "{\"type\":\"response.output_text.delta\",\"delta\":\"\xff\xc3\"}\n" + event("incomplete", `"response":{"incomplete_details":{}}`)))
	f.Add([]byte(`{"type":"response.failed","response":{"error":{}}}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		answer, s, err := decode(string(in))
		m := answer.Message("")
		if !utf8.ValidString(m.Text()) {
			t.Error("not UTF-8")
		}
		for _, p := range m.Parts {
			if p.Thinking == nil || p.Thinking.Signature == "" {
				continue
			}
			if item, ok := reasoningOf(p.Thinking); !ok || item.Encrypted == "" {
				t.Errorf("a signature that cannot be sent back: %s", p.Thinking.Signature)
			}
		}
		if err == nil && s.State() == wire.Done && s.Stop() == "" {
			t.Error("an end without a reason")
		}
	})
}

// BenchmarkDecode is an answer of 500 tokens.
func BenchmarkDecode(b *testing.B) {
	delta := []byte(`{"type":"response.output_text.delta","sequence_number":4,"item_id":"msg_1","output_index":0,"content_index":0,"delta":" word","logprobs":[],"obfuscation":"aCd3"}`)
	b.ReportAllocs()
	var deltas []llm.Delta
	for b.Loop() {
		s := newStream(ids())
		if _, err := s.Decode([]byte(addMessage), nil); err != nil {
			b.Fatal(err)
		}
		for range 500 {
			s.last = 0 // so that the same event counts again
			var err error
			if deltas, err = s.Decode(delta, deltas[:0]); err != nil || len(deltas) != 1 {
				b.Fatal(err)
			}
		}
	}
}

// ids makes ids that can be told beforehand.
func ids() func() string {
	n := 0
	return func() string { n++; return fmt.Sprintf("call_%d", n) }
}
