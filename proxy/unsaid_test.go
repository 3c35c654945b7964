package proxy

import (
	"reflect"
	"testing"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/wire"
)

// TestUnsaid: an encoder that hears late what was said writes the same frames, and goes on from
// there in the same way, as one that heard each delta when it came and by itself.
func TestUnsaid(t *testing.T) {
	deltas := []llm.Delta{
		{Kind: llm.DeltaStart},
		{Kind: llm.DeltaThinking, Text: "so "},
		{Kind: llm.DeltaThinking, Text: "what"},
		{Kind: llm.DeltaThinking, Signature: "s1"},
		{Kind: llm.DeltaThinking, Text: "then"},
		{Kind: llm.DeltaThinking, Redacted: "r"},
		{Kind: llm.DeltaText, Text: "It is "},
		{Kind: llm.DeltaText},
		{Kind: llm.DeltaText, Text: "wet."},
		{Kind: llm.DeltaText, Text: " Or"},
		{Kind: llm.DeltaText, Text: " not."},
		{Kind: llm.DeltaUsage, Usage: llm.Usage{InputTokens: 1}},
		{Kind: llm.DeltaText, Text: " And cold."},
		{Kind: llm.DeltaCall, Index: 1, CallID: "a", Name: "f"},
		{Kind: llm.DeltaArgs, Index: 1, Text: "{"},
		{Kind: llm.DeltaCall, Index: 2, CallID: "b", Name: "g"},
		{Kind: llm.DeltaArgs, Index: 2, Text: "{}"},
		{Kind: llm.DeltaArgs, Index: 1, Text: `"x"`},
		{Kind: llm.DeltaArgs, Index: 1, Text: ":1}"},
		{Kind: llm.DeltaStop, Stop: llm.StopToolUse},
	}
	for name, d := range map[string]*dialect{"messages": messages, "chat": chat, "responses": responsesAPI, "generate": generate} {
		encoder := func() *wire.Encoder {
			return wire.NewEncoder(d.voice(asked{dialect: d}, wire.Head{ID: "1", Model: "m", NewID: func(p string) string { return p + "new" }}))
		}
		for late := range len(deltas) + 1 {
			early, then := encoder(), encoder()
			var u unsaid
			var want, got []byte
			for _, d := range deltas[:late] {
				want = early.Encode(d, want)
			}
			for _, d := range together(deltas[:late]) {
				u.add(d, nil)
			}
			if got = u.encode(then); string(got) != string(want) || !reflect.DeepEqual(u, unsaid{}) {
				t.Fatalf("%s, %d late: it writes\n%s\nand not\n%s", name, late, got, want)
			}
			for _, d := range deltas[late:] {
				want, got = early.Encode(d, nil), then.Encode(d, nil)
				if string(got) != string(want) {
					t.Fatalf("%s, %d late: it goes on with\n%s\nand not\n%s", name, late, got, want)
				}
			}
		}
	}
}

// together are deltas as they are told of events that came together: every two that can be are one.
func together(deltas []llm.Delta) (out []llm.Delta) {
	for i, d := range deltas {
		if n := len(out); i%2 == 1 && d.Text != "" && deltas[i-1].Text != "" && continues(deltas[i-1], d) {
			last := &out[n-1]
			last.Text, last.Ends = last.Text+d.Text, []int{len(last.Text), len(last.Text) + len(d.Text)}
			continue
		}
		out = append(out, d)
	}
	return out
}

// TestEndsAreBounded: a provider that ends parts without end costs nothing.
func TestEndsAreBounded(t *testing.T) {
	var u unsaid
	for part := range 1000 {
		u.leave(part)
	}
	if n := len(u.runs); n != 1 || *u.runs[0].over != 999 {
		t.Errorf("%d are kept: %+v", n, u.runs)
	}
}
