package wire_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/wire"
	"github.com/mulligan-run/mulligan/wire/anthropic"
	"github.com/mulligan-run/mulligan/wire/gemini"
	"github.com/mulligan-run/mulligan/wire/openai"
	"github.com/mulligan-run/mulligan/wire/responses"
)

// spoken is a wire from both ends.
type spoken struct {
	voice    func(h wire.Head) wire.Voice
	document func(h wire.Head, said llm.Message, stop llm.StopReason, usage llm.Usage) []byte
	decoder  func() wire.Decoder
	report   wire.Report
	says     func(p llm.Part) (llm.Part, bool) // what the wire has a place for
	filters  bool                              // a filtered answer is an answer
	caches   bool                              // what was written to a cache is counted apart
}

func everyWire() map[string]spoken {
	seal := func(p llm.Part) (llm.Part, bool) { return p, true }
	return map[string]spoken{
		"anthropic": {anthropic.NewVoice, anthropic.Document, anthropic.NewDecoder, wire.Report{Type: "overloaded_error"}, seal, true, true},
		"openai": {
			func(h wire.Head) wire.Voice { return openai.NewVoice(h, true) }, openai.Document,
			func() wire.Decoder { return openai.NewDecoder(plainServer{}) },
			wire.Report{Type: "server_error"},
			openaiSays, true, false,
		},
		"responses": {responses.NewVoice, responses.Document, func() wire.Decoder { return responses.NewDecoder(ids("call_")) }, wire.Report{Code: "server_error"}, responsesSays, true, false},
		"gemini": {
			func(h wire.Head) wire.Voice { return gemini.NewVoice(h, false) }, gemini.Document,
			func() wire.Decoder { return gemini.NewDecoder(ids("call_")) },
			wire.Report{Status: 503, Type: "UNAVAILABLE"},
			geminiSays, false, false,
		},
	}
}

type plainServer struct{}

func (plainServer) NewID() string     { return "call_1" }
func (plainServer) Named()            {}
func (plainServer) Whole(uint64) bool { return false }

func ids(prefix string) func() string {
	n := 0
	return func() string { n++; return fmt.Sprint(prefix, n) }
}

func head() wire.Head {
	n := 0
	return wire.Head{ID: "id_1", Model: "m", Created: 1, NewID: func(prefix string) string { n++; return fmt.Sprint(prefix, "n", n) }}
}

// openaiSays: reasoning has neither signature nor hidden form there, and comes before all else.
func openaiSays(p llm.Part) (llm.Part, bool) {
	switch {
	case p.Call != nil:
		return llm.Part{Call: &llm.ToolCall{ID: p.Call.ID, Name: p.Call.Name, Args: p.Call.Args}}, true
	case p.Thinking != nil:
		return llm.Part{Thinking: &llm.Thinking{Text: p.Thinking.Text}}, p.Thinking.Text != ""
	}
	return p, true
}

// responsesSays: the ids of items are the voice's own, so of a signature only the content counts.
func responsesSays(p llm.Part) (llm.Part, bool) {
	switch {
	case p.Call != nil:
		return llm.Part{Call: &llm.ToolCall{ID: p.Call.ID, Name: p.Call.Name, Args: p.Call.Args}}, true
	case p.Thinking != nil:
		var proof struct {
			Encrypted string `json:"encrypted_content"`
		}
		_ = json.Unmarshal([]byte(p.Thinking.Signature), &proof)
		return llm.Part{Thinking: &llm.Thinking{Text: p.Thinking.Text, Signature: proof.Encrypted}}, p.Thinking.Text+proof.Encrypted != ""
	}
	return p, true
}

func geminiSays(p llm.Part) (llm.Part, bool) {
	if t := p.Thinking; t != nil {
		return llm.Part{Thinking: &llm.Thinking{Text: t.Text, Signature: t.Signature}}, t.Text+t.Signature != ""
	}
	return p, true
}

// drawParts draws what a model says: texts and thoughts that are told apart by what is
// between them, and calls with ids.
func drawParts(t *rapid.T) []llm.Part {
	text := rapid.StringMatching(`[ -~äö𝄞\n"<>&\\]{1,20}`)
	n := 0
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) llm.Part {
		switch rapid.IntRange(0, 3).Draw(t, "part") {
		case 0:
			return llm.Part{Thinking: &llm.Thinking{
				Text: text.Draw(t, "thought"), Signature: responses.Sign("rs_1", rapid.StringMatching(`[a-zA-Z0-9+/]{4,12}`).Draw(t, "seal")),
			}}
		case 1:
			n++
			args := rapid.SampledFrom([]string{"{}", `{"city":"Köln"}`, `{"a":[1,2,{"b":"\"<>"}]}`}).Draw(t, "args")
			return llm.Part{Call: &llm.ToolCall{ID: fmt.Sprint("c", n), Name: "look_up", Args: json.RawMessage(args)}}
		default:
			return llm.Part{Text: text.Draw(t, "text")}
		}
	}), 1, 6).Draw(t, "parts")
}

// drawAnswer draws an answer as deltas, with the calls' arguments in each other's midst.
func drawAnswer(t *rapid.T) (deltas []llm.Delta, said llm.Answer) {
	count := rapid.Int64Range(1, 1<<40)
	deltas = []llm.Delta{
		{Kind: llm.DeltaUsage, Usage: llm.Usage{InputTokens: count.Draw(t, "in")}},
		{Kind: llm.DeltaStart, RequestID: "id_1"},
	}
	var args [][]llm.Delta
	stop := llm.StopEnd
	for i, p := range drawParts(t) {
		switch {
		case p.Call != nil:
			stop = llm.StopToolUse
			deltas = append(deltas, llm.Delta{Kind: llm.DeltaCall, Index: i, CallID: p.Call.ID, Name: p.Call.Name})
			var pieces []llm.Delta
			for _, piece := range wire.Pieces(string(p.Call.Args)) {
				pieces = append(pieces, llm.Delta{Kind: llm.DeltaArgs, Index: i, Text: piece})
			}
			args = append(args, pieces)
		case p.Thinking != nil:
			deltas = append(deltas, llm.Delta{Kind: llm.DeltaThinking, Text: p.Thinking.Text}, llm.Delta{Kind: llm.DeltaThinking, Signature: p.Thinking.Signature})
		default:
			for word := range strings.SplitAfterSeq(p.Text, " ") {
				deltas = append(deltas, llm.Delta{Kind: llm.DeltaText, Text: word})
			}
		}
	}
	for piece := range 2 {
		for _, pieces := range args {
			deltas = append(deltas, pieces[piece])
		}
	}
	if stop == llm.StopEnd {
		stop = rapid.SampledFrom([]llm.StopReason{llm.StopEnd, llm.StopLength, llm.StopFiltered}).Draw(t, "stop")
	}
	deltas = append(deltas,
		llm.Delta{Kind: llm.DeltaUsage, Usage: llm.Usage{
			InputTokens: deltas[0].Usage.InputTokens, OutputTokens: count.Draw(t, "out"),
			CacheReadTokens: rapid.Int64Range(0, 99).Draw(t, "read"), CacheWriteTokens: rapid.Int64Range(0, 99).Draw(t, "written"),
		}},
		llm.Delta{Kind: llm.DeltaStop, Stop: stop})
	for _, d := range deltas {
		said.Add(d)
	}
	return deltas, said
}

// events are the data of the frames.
func events(frames []byte) [][]byte {
	var out [][]byte
	for block := range strings.SplitSeq(strings.ReplaceAll(string(frames), "\r\n", "\n"), "\n\n") {
		for line := range strings.Lines(block) {
			if data, ok := strings.CutPrefix(line, "data: "); ok {
				out = append(out, []byte(strings.TrimSuffix(data, "\n")))
			}
		}
	}
	return out
}

// hear folds events.
func hear(t *rapid.T, d wire.Decoder, list [][]byte) llm.Answer {
	var answer llm.Answer
	for _, event := range list {
		deltas, err := d.Decode(event, nil)
		if err != nil {
			t.Fatalf("%s: %v", event, err)
		}
		for _, delta := range deltas {
			answer.Add(delta)
		}
	}
	if d.State() == wire.Open {
		t.Fatalf("no end in %s", bytes.Join(list, []byte("\n")))
	}
	answer.Stop = d.Stop()
	return answer
}

// canon is what of an answer a wire has a place for; texts that stand side by side are one.
func (s spoken) canon(a *llm.Answer) string {
	var b strings.Builder
	var parts []llm.Part
	for _, p := range a.Message("").Parts {
		q, ok := s.says(p)
		if !ok || p.Call == nil && p.Thinking == nil && p.Text == "" {
			continue
		}
		if n := len(parts); n > 0 && q.Call == nil && q.Thinking == nil && parts[n-1].Call == nil && parts[n-1].Thinking == nil {
			parts[n-1].Text += q.Text
			continue
		}
		if n := len(parts); n > 0 && q.Thinking != nil && parts[n-1].Thinking != nil && parts[n-1].Thinking.Signature == "" {
			parts[n-1].Thinking.Text += q.Thinking.Text
			parts[n-1].Thinking.Signature = q.Thinking.Signature
			continue
		}
		parts = append(parts, q)
	}
	for _, p := range parts {
		fmt.Fprintf(&b, "%s\n", wire.Append(nil, p))
	}
	u := a.Usage
	if !s.caches {
		u.InputTokens, u.CacheWriteTokens = u.InputTokens+u.CacheWriteTokens, 0
	}
	fmt.Fprintf(&b, "%s %+v", a.Stop, u)
	return b.String()
}

// TestWhatIsWrittenIsRead: of every answer, in frames and as a document, a decoder hears
// what the encoder was told, as far as the wire has a place for it.
func TestWhatIsWrittenIsRead(t *testing.T) {
	for name, s := range everyWire() {
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) {
			deltas, said := drawAnswer(t)
			if said.Stop == llm.StopFiltered && !s.filters {
				return
			}
			var frames []byte
			encoder := wire.NewEncoder(s.voice(head()))
			for _, d := range deltas {
				frames = encoder.Encode(d, frames)
			}
			heard := hear(t, s.decoder(), events(frames))
			if got, want := s.canon(&heard), s.canon(&said); got != want {
				t.Fatalf("streamed:\n%s\nwant\n%s\nin %s", got, want, frames)
			}
			if name == "openai" {
				said = ordered(said)
			}
			document := s.document(head(), said.Message(""), said.Stop, said.Usage)
			d := s.decoder()
			list, err := d.(wire.Unstreamer).Unstream(document)
			if err != nil {
				t.Fatalf("%v: %s", err, document)
			}
			heard = hear(t, d, list)
			if got, want := s.canon(&heard), s.canon(&said); got != want {
				t.Fatalf("whole:\n%s\nwant\n%s\nin %s", got, want, document)
			}
		}))
	}
}

// ordered is an answer as a completion tells it that is not streamed: reasoning, then text,
// then the calls.
func ordered(a llm.Answer) llm.Answer {
	var out llm.Answer
	parts := a.Message("").Parts
	rank := func(p llm.Part) int {
		switch {
		case p.Thinking != nil:
			return 0
		case p.Call == nil:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(parts, func(p, q llm.Part) int { return rank(p) - rank(q) })
	for i, p := range parts {
		switch {
		case p.Call != nil:
			out.Add(llm.Delta{Kind: llm.DeltaCall, Index: i, CallID: p.Call.ID, Name: p.Call.Name})
			out.Add(llm.Delta{Kind: llm.DeltaArgs, Index: i, Text: string(p.Call.Args)})
		case p.Thinking != nil:
			out.Add(llm.Delta{Kind: llm.DeltaThinking, Text: p.Thinking.Text, Signature: p.Thinking.Signature})
		default:
			out.Add(llm.Delta{Kind: llm.DeltaText, Text: p.Text})
		}
	}
	out.Usage, out.Stop = a.Usage, a.Stop
	return out
}

// TestABrokenAnswerIsNoAnswer: an answer that fails is heard as the provider's error, at
// whatever place, and nothing of it passes for an end.
func TestABrokenAnswerIsNoAnswer(t *testing.T) {
	for name, s := range everyWire() {
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) {
			deltas, _ := drawAnswer(t)
			cut := rapid.IntRange(2, len(deltas)-1).Draw(t, "cut")
			var frames []byte
			encoder := wire.NewEncoder(s.voice(head()))
			for _, d := range deltas[:cut] {
				frames = encoder.Encode(d, frames)
			}
			d := s.decoder()
			for _, event := range events(encoder.Fail(s.report, frames)) {
				if _, err := d.Decode(event, nil); err != nil {
					return
				}
				if d.State() != wire.Open {
					break
				}
			}
			t.Fatalf("no error was heard, %v", d.State())
		}))
	}
}

func BenchmarkEncode(b *testing.B) {
	for name, s := range everyWire() {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			encoder := wire.NewEncoder(s.voice(head()))
			frames := encoder.Encode(llm.Delta{Kind: llm.DeltaStart}, nil)
			for b.Loop() {
				frames = encoder.Encode(llm.Delta{Kind: llm.DeltaText, Text: "some more words of it "}, frames[:0])
			}
		})
	}
}
