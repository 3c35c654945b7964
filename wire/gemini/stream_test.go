package gemini

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/wire"
)

// decode folds chunks, one a line.
func decode(chunks string) (llm.Answer, wire.Decoder, error) {
	var answer llm.Answer
	d := NewDecoder(ids())
	for line := range strings.Lines(chunks) {
		deltas, err := d.Decode([]byte(strings.TrimSpace(line)), nil)
		if err != nil {
			return answer, d, err
		}
		for _, delta := range deltas {
			answer.Add(delta)
		}
	}
	return answer, d, nil
}

// parts makes a chunk of parts.
func parts(list string) string {
	return `{"candidates":[{"content":{"parts":[` + list + `],"role":"model"},"index":0}]}` + "\n"
}

// finish makes the chunk that ends an answer.
func finish(reason string) string {
	return `{"candidates":[{"content":{"parts":[{"text":""}],"role":"model"},"finishReason":"` + reason + `"}]}` + "\n"
}

// list makes one event of chunks.
func list(chunks ...string) string {
	return "[" + strings.ReplaceAll(strings.TrimSpace(strings.Join(chunks, "")), "\n", ",") + "]"
}

const whole = `{"candidates":[{"content":{"parts":[{"text":"hm, ","thought":true}],"role":"model"},"index":0}],"usageMetadata":{"promptTokenCount":12,"cachedContentTokenCount":7},"modelVersion":"m","responseId":"r-1"}
{"candidates":[{"content":{"parts":[{"text":"two calls","thought":true}],"role":"model"},"index":0}],"responseId":"r-1"}
{"candidates":[{"content":{"parts":[{"text":"Hi"}],"role":"model"},"index":0},{"content":{"parts":[{"text":"another"}]},"index":1}]}
{"candidates":[]}
{}
{"candidates":[{"content":{"role":"model"}}],"promptFeedback":{"safetyRatings":[]}}
{"candidates":[{"content":{"parts":[{"text":" you","thoughtSignature":"c2lnMQ=="},{"hologram":{"x":1}}]}}]}
{"candidates":[{"content":{"parts":[{"functionCall":{"id":"w1","name":"f","args":{"x":1}},"thoughtSignature":"c2lnMg=="},{"functionCall":{"name":"g"}}]}}]}
{"candidates":[{"content":{"parts":[{"functionCall":{"name":"h","args":null}}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":12,"candidatesTokenCount":9,"thoughtsTokenCount":4,"cachedContentTokenCount":7,"totalTokenCount":25}}`

func TestWholeAnswer(t *testing.T) {
	answer, d, err := decode(whole)
	m := answer.Message("")
	if err != nil || d.State() != wire.Finished || d.Stop() != llm.StopToolUse || m.Text() != "Hi you" || len(m.Parts) != 6 {
		t.Fatalf("%v %v %s %+v", err, d.State(), d.Stop(), m)
	}
	if m.Parts[0].Thinking.Text != "hm, two calls" || *m.Parts[2].Thinking != (llm.Thinking{Signature: "c2lnMQ=="}) || answer.RequestID != "r-1" {
		t.Errorf("%+v %+v %s", m.Parts[0].Thinking, m.Parts[2].Thinking, answer.RequestID)
	}
	var calls []string
	ids := map[string]bool{}
	for _, c := range m.Calls() {
		calls = append(calls, c.Name+string(c.Args)+c.Signature)
		ids[c.ID] = true
	}
	if strings.Join(calls, " ") != `f{"x":1}c2lnMg== g{} h{}` || len(ids) != 3 || !ids["w1"] || ids[""] {
		t.Errorf("%v %v", calls, ids)
	}
	if answer.Usage != (llm.Usage{InputTokens: 5, OutputTokens: 13, CacheReadTokens: 7}) {
		t.Errorf("%+v", answer.Usage)
	}
}

// TestEveryCutIsOpen: also after a call, nothing but a finishReason ends an answer.
func TestEveryCutIsOpen(t *testing.T) {
	lines := strings.SplitAfter(whole, "\n")
	for n := range lines {
		if _, d, err := decode(strings.Join(lines[:n], "")); err != nil || d.State() != wire.Open {
			t.Errorf("after %d chunks: %v, %v", n, d.State(), err)
		}
	}
}

// TestOwnWordsComeBack sends an answer back to the model that gave it: signatures
// are where they were, summaries of thoughts are gone.
func TestOwnWordsComeBack(t *testing.T) {
	const model = "gemini/gemini-3-flash"
	answer, _, err := decode(whole)
	if err != nil {
		t.Fatal(err)
	}
	body, repairs, err := Encode(wire.Target{Model: "gemini-3-flash"}, llm.Request{Model: model, Messages: []llm.Message{llm.User("q"), answer.Message(model)}})
	if err != nil || strings.Contains(string(body), "two calls") {
		t.Errorf("%v %s %v", err, body, repairs)
	}
	const want = `{"role":"model","parts":[{"text":"Hi you"},{"text":"","thoughtSignature":"c2lnMQ=="},` +
		`{"functionCall":{"id":"w1","name":"f","args":{"x":1}},"thoughtSignature":"c2lnMg=="},{"functionCall":{"id":"call_`
	if !strings.Contains(string(body), want) {
		t.Errorf("%s\nlacks\n%s", body, want)
	}
}

func TestEnds(t *testing.T) {
	for in, want := range map[string]llm.StopReason{
		parts(`{"text":"x"}`) + finish("STOP"):                        llm.StopEnd,
		parts(`{"text":"x"}`) + finish("MAX_TOKENS"):                  llm.StopLength,
		parts(`{"functionCall":{"name":"f"}}`) + finish("STOP"):       llm.StopToolUse,
		parts(`{"functionCall":{"name":"f"}}`) + finish("MAX_TOKENS"): llm.StopLength,
		parts(`{"text":"hm","thought":true}`) + finish("STOP"):        llm.StopEnd,
		finish("STOP") + parts(`{"text":"x"}`) + finish("STOP"):       llm.StopEnd,
		list(parts(`{"text":"x"}`), finish("STOP")):                   llm.StopEnd,
	} {
		if _, d, err := decode(in); err != nil || d.Stop() != want || d.State() != wire.Finished {
			t.Errorf("%s: %v %s", in, err, d.Stop())
		}
	}
	if answer, d, err := decode(finish("FINISH_REASON_UNSPECIFIED")); err != nil || d.State() != wire.Open || answer.TextBytes != 0 {
		t.Errorf("%v %v", err, d.State())
	}
}

// TestEmptyAnswers end without anything said, for the runner to judge.
func TestEmptyAnswers(t *testing.T) {
	for _, in := range []string{
		parts(`{"text":"hm","thought":true},{"thoughtSignature":"c2ln"}`) + finish("STOP"),
		`{"candidates":[{"content":{},"finishReason":"STOP"}]}`,
		`{"candidates":[{"finishReason":"STOP"}]}`,
		finish("STOP"),
	} {
		answer, d, err := decode(in)
		if err != nil || d.State() != wire.Finished || answer.TextBytes != 0 || len(answer.Message("").Calls()) != 0 {
			t.Errorf("%s: %v %+v", in, err, answer.Message(""))
		}
	}
}

// classified is what becomes of a decoder's error in the middle of a stream.
func classified(t *testing.T, err error) *failure.Failure {
	t.Helper()
	reported := (*wire.ReportedError)(nil)
	if !errors.As(err, &reported) {
		t.Fatalf("%v is not reported", err)
	}
	return failure.Classify(failure.Evidence{
		Err: err, Kind: reported.Kind, Body: reported.Body, Phase: failure.PhaseMidStream, Status: 200, Provider: "gemini",
	})
}

func TestReasonsThatAreNoAnswer(t *testing.T) {
	for kind, reasons := range map[failure.Kind][]string{
		failure.KindContentFilter: {
			"SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "MODEL_ARMOR",
			"IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION",
		},
		failure.KindMalformedResponse: {
			"MALFORMED_FUNCTION_CALL", "MALFORMED_RESPONSE", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS",
			"OTHER", "IMAGE_OTHER", "NO_IMAGE", "SOMETHING_NEW",
		},
		failure.KindInvalidRequest: {"MISSING_THOUGHT_SIGNATURE"},
	} {
		for _, reason := range reasons {
			_, _, err := decode(parts(`{"text":"x"}`) + finish(reason))
			if f := classified(t, err); f.Kind != kind || f.ProviderCode != reason || f.Retryable != kind.Retryable() {
				t.Errorf("%s: %s %q %v", reason, f.Kind, f.ProviderCode, f.Retryable)
			}
		}
	}
	for _, reason := range []string{"SAFETY", "OTHER", "BLOCKLIST", "PROHIBITED_CONTENT", "JAILBREAK", "SOMETHING_NEW"} {
		_, _, err := decode(`{"promptFeedback":{"blockReason":"` + reason + `","blockReasonMessage":"Not this."},"usageMetadata":{}}`)
		if f := classified(t, err); f.Kind != failure.KindContentFilter || f.ProviderCode != "blocked_"+reason || f.Detail != "Not this." {
			t.Errorf("blocked by %s: %s %q %q", reason, f.Kind, f.ProviderCode, f.Detail)
		}
	}
}

// TestModelTextIsNoEvidence: what a malformed call repeats of the model's words
// neither names the failure nor sets a time.
func TestModelTextIsNoEvidence(t *testing.T) {
	_, _, err := decode(`{"candidates":[{"finishReason":"MALFORMED_FUNCTION_CALL","finishMessage":"Malformed function call: print('rate limit: please retry in 40s')"}]}`)
	if f := classified(t, err); f.Kind != failure.KindMalformedResponse || f.RetryAfter != 0 || strings.Contains(f.Detail, "retry in") {
		t.Errorf("%s %d %s", f.Kind, f.RetryAfter, f.Detail)
	}
}

func TestReportedErrors(t *testing.T) {
	const overloaded = `{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}`
	for in, want := range map[string]failure.Kind{
		overloaded:                               failure.KindOverloaded,
		`[` + overloaded + `]`:                   failure.KindOverloaded,
		parts(`{"text":"x"}`) + overloaded:       failure.KindOverloaded,
		`[{"candidates":[]},` + overloaded + `]`: failure.KindOverloaded,
		`{"event_type":"error","error":{"code":"not_found","message":"Failed to get completed interaction: Result not found."}}`: failure.KindUnavailable,
		`{"error":{"code":429,"message":"slow down","status":"RESOURCE_EXHAUSTED"}}`:                                             failure.KindRateLimit,
	} {
		_, _, err := decode(in)
		if f := classified(t, err); f.Kind != want {
			t.Errorf("%s: %s", in, f.Kind)
		}
	}
	if _, _, err := decode(`{"event_type":"error"}`); classified(t, err) == nil {
		t.Error(err)
	}
	if _, _, err := decode(`{"error":null}`); err != nil {
		t.Error(err)
	}
}

func TestMalformed(t *testing.T) {
	for _, in := range []string{
		"{", "[", "[1]", "[[]]", "1", `"x"`, `{"candidates":{}}`,
		parts(`{"functionCall":{"args":{}}}`),
		parts(`{"functionCall":{}}`),
	} {
		if _, _, err := decode(in); !errors.Is(err, wire.ErrMalformed) {
			t.Errorf("%s: %v", in, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(whole))
	f.Add([]byte(finish("SAFETY")))
	f.Add([]byte(`[{"promptFeedback":{"blockReason":"OTHER"}}]`))
	f.Add([]byte(parts("{\"functionCall\":{\"name\":\"f\",\"args\":{\"x\":\"\xff\xc3\"}}},{\"text\":\"\xff\"}") + finish("STOP")))
	f.Fuzz(func(t *testing.T, in []byte) {
		answer, d, err := decode(string(in))
		if m := answer.Message(""); !utf8.ValidString(m.Text()) || !utf8.ValidString(fmt.Sprint(m.Calls())) {
			t.Error("not UTF-8")
		}
		if err == nil && d.State() != wire.Open && d.Stop() == "" {
			t.Error("an end without a reason")
		}
		for _, c := range answer.Message("").Calls() {
			if c.Name == "" || c.ID == "" || !json.Valid(c.Args) {
				t.Errorf("%+v", c)
			}
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	chunk := []byte(`{"candidates":[{"content":{"parts":[{"text":" word"}],"role":"model"},"index":0}],"usageMetadata":{"promptTokenCount":12,"totalTokenCount":12},"modelVersion":"gemini-3-flash","responseId":"r-1"}`)
	d := NewDecoder(ids())
	var deltas []llm.Delta
	b.ReportAllocs()
	b.SetBytes(int64(len(chunk)))
	for b.Loop() {
		var err error
		if deltas, err = d.Decode(chunk, deltas[:0]); err != nil {
			b.Fatal(err)
		}
	}
}

// ids makes ids that can be told beforehand.
func ids() func() string {
	n := 0
	return func() string { n++; return fmt.Sprintf("call_%d", n) }
}
