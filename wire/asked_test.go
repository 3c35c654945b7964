package wire_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/llm/handover"
	"github.com/mulligan-run/mulligan/wire"
	"github.com/mulligan-run/mulligan/wire/anthropic"
	"github.com/mulligan-run/mulligan/wire/gemini"
	"github.com/mulligan-run/mulligan/wire/internal/requests"
	"github.com/mulligan-run/mulligan/wire/openai"
	"github.com/mulligan-run/mulligan/wire/responses"
)

// asking is a wire on which requests are written and read.
type asking struct {
	model    string // one that takes all there is
	encode   func(to wire.Target, request llm.Request) ([]byte, []llm.Repair, error)
	decode   func(data []byte) (wire.Asked, error)
	fits     handover.Target
	sends    func(m llm.Message) []llm.Part // what the wire has a place for
	outputs  bool                           // what a tool gave back is text alone
	ordered  bool                           // words and calls stay in each other's order
	adjusted func(r *llm.Request)           // what Encode makes of the rest
}

func everyAsking() map[string]asking {
	return map[string]asking{
		"anthropic": {
			model: "claude", encode: anthropic.Encode, decode: anthropic.Decode,
			fits: handover.Target{MaxID: 64, Alternate: true}, sends: unsigned, ordered: true,
			adjusted: func(r *llm.Request) {
				if r.MaxOutputTokens == 0 {
					r.MaxOutputTokens = anthropic.DefaultMaxTokens
				}
				if r.ToolChoice.Mode == llm.ToolRequired {
					r.ReasoningEffort = ""
				}
				if r.ReasoningEffort != "" {
					r.Temperature, r.TopP = nil, nil
				}
				if r.Temperature != nil {
					r.Temperature, r.TopP = new(min(1, *r.Temperature)), nil
				}
				if r.Format != nil {
					r.Format = &llm.Format{Schema: r.Format.Schema}
				}
			},
		},
		"openai": {
			model: "m", encode: openai.Encode, decode: openai.Decode,
			fits: handover.Target{MaxID: 40}, outputs: true,
			sends: func(m llm.Message) []llm.Part {
				return slices.DeleteFunc(unsigned(m), func(p llm.Part) bool { return p.Thinking != nil })
			},
			adjusted: samplesUnlessReasoning,
		},
		"responses": {
			model: "m", encode: responses.Encode, decode: responses.Decode,
			fits: handover.Target{MaxID: 64}, outputs: true, ordered: true, sends: sealedAndFollowed,
			adjusted: samplesUnlessReasoning,
		},
		"gemini": {
			model: "gemini-3-flash", encode: gemini.Encode, decode: gemini.Decode,
			fits: handover.Target{MaxID: 64, Alternate: true}, ordered: true,
			sends: func(m llm.Message) (out []llm.Part) {
				for _, p := range m.Parts {
					if p.Thinking == nil {
						out = append(out, p)
					} else if p.Thinking.Signature != "" {
						out = append(out, llm.Part{Thinking: &llm.Thinking{Signature: p.Thinking.Signature}})
					}
				}
				return out
			},
			adjusted: func(r *llm.Request) {
				if r.Format != nil {
					r.Format = &llm.Format{Schema: r.Format.Schema}
				}
			},
		},
	}
}

func samplesUnlessReasoning(r *llm.Request) {
	if r.ReasoningEffort != "" {
		r.Temperature, r.TopP = nil, nil
	}
	if r.Format != nil && r.Format.Name == "" {
		r.Format = &llm.Format{Name: "answer", Schema: r.Format.Schema, Strict: r.Format.Strict}
	}
}

// unsigned are the parts of a message without the signatures of calls.
func unsigned(m llm.Message) (out []llm.Part) {
	for _, p := range m.Parts {
		if p.Call != nil {
			p = llm.Part{Call: &llm.ToolCall{ID: p.Call.ID, Name: p.Call.Name, Args: p.Call.Args}}
		}
		out = append(out, p)
	}
	return out
}

// sealedAndFollowed: of reasoning only what is encrypted goes out, and only before what came of it.
func sealedAndFollowed(m llm.Message) (out []llm.Part) {
	var thoughts []llm.Part
	for _, p := range unsigned(m) {
		switch {
		case p.Thinking == nil:
			out, thoughts = append(append(out, thoughts...), p), nil
		case strings.HasPrefix(p.Thinking.Signature, "{"):
			thoughts = append(thoughts, llm.Part{Thinking: &llm.Thinking{Signature: p.Thinking.Signature}})
		}
	}
	return out
}

var askedTexts = rapid.StringMatching(`[ -~äö𝄞\n"<>&\\]{1,20}`)

func drawAskedPart(t *rapid.T) llm.Part {
	id := rapid.SampledFrom([]string{"toolu_1", "toolu_2", "call|3", "", strings.Repeat("x", 70)})
	switch rapid.IntRange(0, 6).Draw(t, "part") {
	case 0:
		return llm.Part{Image: &llm.Image{MediaType: "image/png", Data: []byte(askedTexts.Draw(t, "pixels"))}}
	case 1:
		return llm.Part{Thinking: &llm.Thinking{
			Text: askedTexts.Draw(t, "thought"), Signature: rapid.SampledFrom([]string{"c2ln", responses.Sign("rs_1", "c2ln")}).Draw(t, "signature"),
		}}
	case 2:
		return llm.Part{Thinking: &llm.Thinking{Redacted: "cmVk"}}
	case 3:
		args := rapid.SampledFrom([]string{"{}", `{"city":"Köln"}`, `{"a":[1,2e3,{"b":"\"<>"}]}`}).Draw(t, "args")
		return llm.Part{Call: &llm.ToolCall{
			ID: id.Draw(t, "id"), Name: "look_up", Args: json.RawMessage(args), Signature: rapid.SampledFrom([]string{"", "c2ln"}).Draw(t, "call's signature"),
		}}
	case 4:
		return llm.Part{Result: &llm.ToolResult{CallID: id.Draw(t, "id"), Name: "look_up", Text: rapid.SampledFrom([]string{"", "14 °C"}).Draw(t, "output"), IsError: rapid.Bool().Draw(t, "failed")}}
	}
	return llm.Part{Text: askedTexts.Draw(t, "text")}
}

// drawAsked draws a request that uses whatever there is.
func drawAsked(t *rapid.T, model string) llm.Request {
	messages := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) llm.Message {
		m := llm.Message{
			Role:  rapid.SampledFrom([]llm.Role{llm.RoleUser, llm.RoleAssistant, llm.RoleTool}).Draw(t, "role"),
			Parts: rapid.SliceOfN(rapid.Custom(drawAskedPart), 0, 5).Draw(t, "parts"),
		}
		if m.Role == llm.RoleAssistant {
			m.Model = rapid.SampledFrom([]string{model, model, "other/m"}).Draw(t, "by")
		} else {
			m.Parts = slices.DeleteFunc(m.Parts, func(p llm.Part) bool { return p.Call != nil || p.Thinking != nil })
		}
		return m
	}), 0, 8).Draw(t, "messages")
	messages = append(messages, llm.Message{Role: llm.RoleAssistant, Model: model, Parts: []llm.Part{{Text: "Well?"}}}, llm.User("Go on."))
	schema := rapid.SampledFrom([]json.RawMessage{nil, json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}}}`)})
	number := rapid.Ptr(rapid.SampledFrom([]float64{0, 0.25, 1, 2}), true)
	r := llm.Request{
		Model: model, Messages: messages, System: rapid.OneOf(rapid.Just(""), askedTexts).Draw(t, "system"),
		MaxOutputTokens: rapid.SampledFrom([]int{0, 16, 4096, 200_000}).Draw(t, "limit"),
		ReasoningEffort: rapid.SampledFrom([]string{"", "low", "medium", "high"}).Draw(t, "effort"),
		Temperature:     number.Draw(t, "temperature"), TopP: number.Draw(t, "top p"),
	}
	for i := range rapid.IntRange(0, 3).Draw(t, "tools") {
		r.Tools = append(r.Tools, llm.Tool{
			Name: fmt.Sprint("tool_", i), Description: rapid.SampledFrom([]string{"", "does <it>"}).Draw(t, "description"), Schema: schema.Draw(t, "schema"),
		})
	}
	if len(r.Tools) > 0 {
		r.ToolChoice.Mode = rapid.SampledFrom([]llm.ToolMode{llm.ToolAuto, llm.ToolNone, llm.ToolRequired}).Draw(t, "choice")
		if r.ToolChoice.Mode == llm.ToolRequired && rapid.Bool().Draw(t, "one") {
			r.ToolChoice.Name = "tool_0"
		}
	}
	if rapid.Bool().Draw(t, "formatted") {
		r.Format = &llm.Format{
			Name: rapid.SampledFrom([]string{"", "reply"}).Draw(t, "name"), Schema: json.RawMessage(`{"type":"object"}`), Strict: rapid.Bool().Draw(t, "strict"),
		}
	}
	return r
}

// canon is what of messages a wire has a place for, one line per part. What one side says in a
// row is one message, and the words in it that no other part parts are one text.
func (a asking) canon(messages []llm.Message) string {
	type line struct {
		side llm.Role
		text bool
		said string
	}
	var lines []line
	begins := 0 // of the side's words
	for _, m := range messages {
		side := m.Role
		if side == llm.RoleTool {
			side = llm.RoleUser
		}
		for _, q := range a.sends(m) {
			if n := len(lines); n > 0 && lines[n-1].side != side {
				begins = n
			}
			if r := q.Result; r != nil && a.outputs {
				text, failed := wire.Given(wire.Output(r))
				q = llm.Part{Result: &llm.ToolResult{CallID: r.CallID, Name: r.Name, Text: text, IsError: failed}}
			}
			at := begins // of the text that this one goes on with
			if a.ordered {
				at = max(begins, len(lines)-1)
			}
			switch {
			case q.Text == "":
				lines = append(lines, line{side, false, string(wire.Append(nil, q))})
			case at < len(lines) && lines[at].side == side && lines[at].text:
				lines[at].said += q.Text
			case a.ordered:
				lines = append(lines, line{side, true, q.Text})
			default:
				lines = slices.Insert(lines, at, line{side, true, q.Text})
			}
		}
	}
	var out strings.Builder
	for _, l := range lines {
		fmt.Fprintf(&out, "%s %q\n", l.side, l.said)
	}
	return out.String()
}

// TestWhatIsAskedIsRead: of every request a decoder makes what it said, as far as the wire
// has a place for it.
func TestWhatIsAskedIsRead(t *testing.T) {
	for name, a := range everyAsking() {
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) {
			want := drawAsked(t, "p/"+a.model)
			data, _, err := a.encode(wire.Target{Model: a.model, Own: rapid.Bool().Draw(t, "own")}, want)
			if err != nil {
				t.Fatal(err)
			}
			got, err := a.decode(data)
			if err != nil {
				t.Fatalf("%v: %s", err, data)
			}
			a.fits.Model = want.Model
			told, err := handover.Transcript(want.Messages, a.fits)
			if err != nil {
				t.Fatal(err)
			}
			if g, w := a.canon(got.Request.Messages), a.canon(told.Messages); g != w {
				t.Fatalf("read:\n%s\nwant\n%s\nin %s", g, w, data)
			}
			if got.Model != a.model && got.Model != "" || len(got.LeftOut)+len(got.Bound) > 0 || len(got.Whole) > 0 != whole(want) {
				t.Fatalf("%q, left out %q, bound %q, whole %q: %s", got.Model, got.LeftOut, got.Bound, got.Whole, data)
			}
			a.adjusted(&want)
			for i := range want.Tools {
				want.Tools[i].Schema, _ = wire.Schema(want.Tools[i])
			}
			want.Model, want.Messages, got.Request.Messages = "", nil, nil
			if !reflect.DeepEqual(got.Request, want) {
				t.Fatalf("read\n%s\nwant\n%s\nin %s", wire.Append(nil, got.Request), wire.Append(nil, want), data)
			}
		}))
	}
}

func whole(r llm.Request) bool { return r.Format != nil || r.ToolChoice.Mode == llm.ToolRequired }

// FuzzDecode: whatever is read can be asked of every wire, or is refused by a request error.
func FuzzDecode(f *testing.F) {
	wires := everyAsking()
	for _, a := range wires {
		data, _, err := a.encode(wire.Target{Model: a.model}, requests.Full(requests.Conversation("p/m")))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	for _, text := range []string{`{"messages":[{"role":"user","content":[{"type":"tool_result","content":[{"type":"image"}]}]}]}`, `{"model":1}`, `{"a":"\ud800","a":{}}`, `{"n":2,"stop":"x","tools":[{"type":"web_search"}]}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, reader := range wires {
			asked, err := reader.decode(slices.Clone(data))
			if bad := (*wire.RequestError)(nil); err != nil {
				if !errors.As(err, &bad) || !reflect.DeepEqual(asked, wire.Asked{}) {
					t.Fatalf("%v, %+v", err, asked)
				}
				continue
			}
			for _, writer := range wires {
				again, _, err := writer.encode(wire.Target{Model: "m"}, asked.Request)
				if err != nil {
					continue
				}
				if _, err := writer.decode(again); err != nil {
					t.Fatalf("%s became %s: %v", data, again, err)
				}
			}
		}
	})
}
