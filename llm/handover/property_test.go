package handover_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/llm/handover"
)

func drawTarget(t *rapid.T) handover.Target {
	return handover.Target{
		Model:     rapid.SampledFrom([]string{"a/m", "a/n", "b/m"}).Draw(t, "target"),
		MaxID:     rapid.SampledFrom([]int{16, 40, 64}).Draw(t, "maxID"),
		NoImages:  rapid.Bool().Draw(t, "noImages"),
		Alternate: rapid.Bool().Draw(t, "alternate"),
	}
}

var (
	drawnTexts = rapid.SampledFrom([]string{"", " ", "\n", "hello", "It is 14 °C.", "half \xff a rune \xc3", "a <b> & c", strings.Repeat("long ", 40)})
	drawnIDs   = rapid.SampledFrom([]string{"", "1", "toolu_1", "call|fc_1", "call.1", "call_1", "ünï", strings.Repeat("x", 64), strings.Repeat("x", 63) + "y", strings.Repeat("x", 200)})
)

func drawPart(t *rapid.T) llm.Part {
	switch rapid.IntRange(0, 6).Draw(t, "part") {
	case 0:
		return llm.Part{Thinking: &llm.Thinking{
			Text:      drawnTexts.Draw(t, "thought"),
			Signature: rapid.SampledFrom([]string{"", "sig"}).Draw(t, "signature"),
			Redacted:  rapid.SampledFrom([]string{"", "", "red"}).Draw(t, "redacted"),
		}}
	case 1:
		return llm.Part{Image: &llm.Image{MediaType: "image/png", Data: []byte("x")}}
	case 2, 3:
		return llm.Part{Call: &llm.ToolCall{
			ID: drawnIDs.Draw(t, "id"), Name: "f",
			Args:      json.RawMessage(rapid.SampledFrom([]string{"", "{}", ` {"a":[1]}`}).Draw(t, "args")),
			Signature: rapid.SampledFrom([]string{"", "sig"}).Draw(t, "signature"),
		}}
	case 4:
		return llm.Part{Result: &llm.ToolResult{CallID: drawnIDs.Draw(t, "id"), Name: "f", Text: drawnTexts.Draw(t, "text"), IsError: rapid.Bool().Draw(t, "error")}}
	}
	return llm.Part{Text: drawnTexts.Draw(t, "text")}
}

// drawTranscript draws any transcript at all: parts stand where no model would put them.
func drawTranscript(t *rapid.T) []llm.Message {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) llm.Message {
		m := llm.Message{
			Role:  rapid.SampledFrom([]llm.Role{llm.RoleUser, llm.RoleAssistant, llm.RoleTool}).Draw(t, "role"),
			Parts: rapid.SliceOfN(rapid.Custom(drawPart), 0, 5).Draw(t, "parts"),
		}
		if m.Role == llm.RoleAssistant {
			m.Model = rapid.SampledFrom([]string{"a/m", "a/n", "b/m", ""}).Draw(t, "by")
		} else if rapid.IntRange(0, 50).Draw(t, "stray") > 0 {
			m.Parts = slices.DeleteFunc(m.Parts, func(p llm.Part) bool { return p.Call != nil })
		}
		return m
	}), 1, 12).Draw(t, "messages")
}

func TestAnyTranscriptForAnyTarget(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		messages, to := drawTranscript(t), drawTarget(t)
		before := deepCopy(t, messages)
		told, err := handover.Transcript(messages, to)
		if !reflect.DeepEqual(messages, before) {
			t.Fatal("the transcript that was given has changed")
		}
		if err != nil {
			if words(messages) != "" && !strayCall(messages) {
				t.Fatalf("refused although there is something to tell: %v", err)
			}
			return
		}
		for name, check := range map[string]func([]llm.Message, handover.Target) error{
			"pairs": pairs, "ids": legalIDs, "foreign": nothingForeign, "turns": turns, "parts": sound,
		} {
			if err := check(told.Messages, to); err != nil {
				t.Fatalf("%s: %v\n%s", name, err, spell(told.Messages))
			}
		}
		if lost := lostText(messages, told.Messages); lost != "" {
			t.Fatalf("lost %q\n%s", lost, spell(told.Messages))
		}
		checkRepairs(t, messages, told, to)
		again, err := handover.Transcript(messages, to)
		if err != nil || !reflect.DeepEqual(again, told) {
			t.Fatal("the same transcript came out differently")
		}
	})
}

// TestTellingTwiceRepairsOnce: a second handover of the result changes nothing.
func TestTellingTwiceRepairsOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		messages, to := drawTranscript(t), drawTarget(t)
		told, err := handover.Transcript(messages, to)
		if err != nil {
			t.Skip("nothing to tell")
		}
		for i := range told.Messages {
			if told.Messages[i].Role == llm.RoleAssistant {
				told.Messages[i].Model = to.Model
			}
		}
		again, err := handover.Transcript(told.Messages, to)
		if err != nil || len(again.Repairs) > 0 || spell(again.Messages) != spell(told.Messages) {
			t.Fatalf("%v %+v\n%s\nbecame\n%s", err, again.Repairs, spell(told.Messages), spell(again.Messages))
		}
	})
}

func deepCopy(t *rapid.T, messages []llm.Message) []llm.Message {
	out := slices.Clone(messages)
	for i := range out {
		out[i].Parts = slices.Clone(out[i].Parts)
		for j, p := range out[i].Parts {
			out[i].Parts[j] = copyPart(p)
		}
	}
	if !reflect.DeepEqual(out, messages) {
		t.Fatal("the copy is none")
	}
	return out
}

func copyPart(p llm.Part) llm.Part {
	if p.Thinking != nil {
		c := *p.Thinking
		p.Thinking = &c
	}
	if p.Call != nil {
		c := *p.Call
		c.Args = slices.Clone(c.Args)
		p.Call = &c
	}
	if p.Result != nil {
		c := *p.Result
		p.Result = &c
	}
	return p
}

// pairs: each call is answered once, in the message after its own, and nothing else is.
func pairs(messages []llm.Message, _ handover.Target) error {
	var open []string
	for i, m := range messages {
		var answered []string
		for _, p := range m.Parts {
			if p.Result != nil {
				answered = append(answered, p.Result.CallID)
			}
		}
		if !slices.Equal(open, answered) {
			return fmt.Errorf("message %d answers %q, open are %q", i, answered, open)
		}
		open = nil
		for _, c := range m.Calls() {
			open = append(open, c.ID)
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("open at the end: %q", open)
	}
	return nil
}

var legalID = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)

func legalIDs(messages []llm.Message, to handover.Target) error {
	seen := map[string]bool{}
	for _, m := range messages {
		for _, c := range m.Calls() {
			if seen[c.ID] || !legalID.MatchString(c.ID) || len(c.ID) > to.MaxID {
				return fmt.Errorf("id %q is illegal or not unique", c.ID)
			}
			seen[c.ID] = true
		}
	}
	return nil
}

func nothingForeign(messages []llm.Message, to handover.Target) error {
	for _, m := range messages {
		for _, p := range m.Parts {
			if m.Model == to.Model {
				continue
			}
			if p.Thinking != nil || p.Call != nil && p.Call.Signature != "" {
				return fmt.Errorf("of %q: %+v", m.Model, p)
			}
		}
	}
	return nil
}

func turns(messages []llm.Message, to handover.Target) error {
	if !to.Alternate {
		return nil
	}
	for i, m := range messages {
		if want := []llm.Role{llm.RoleUser, llm.RoleAssistant}[i%2]; m.Role != want {
			return fmt.Errorf("message %d is the %s's", i, m.Role)
		}
	}
	return nil
}

// sound: no empty message, no empty part, results in their place, arguments that are objects.
func sound(messages []llm.Message, to handover.Target) error {
	for i, m := range messages {
		if len(m.Parts) == 0 {
			return fmt.Errorf("message %d is empty", i)
		}
		others := false
		for _, p := range m.Parts {
			switch {
			case p.Result != nil:
				if others || m.Role == llm.RoleAssistant {
					return fmt.Errorf("message %d: a result is out of place", i)
				}
				continue
			case p.Call != nil && !handover.IsObject(p.Call.Args):
				return fmt.Errorf("message %d: arguments %s", i, p.Call.Args)
			case p.Image != nil && to.NoImages:
				return fmt.Errorf("message %d: a picture", i)
			case p.Call == nil && p.Image == nil && p.Thinking == nil && strings.TrimSpace(p.Text) == "":
				return fmt.Errorf("message %d: an empty part", i)
			}
			others = true
		}
		if others && m.Role == llm.RoleTool {
			return fmt.Errorf("message %d: more than results", i)
		}
	}
	return nil
}

// strayCall reports whether somebody but a model calls a tool.
func strayCall(messages []llm.Message) bool {
	return slices.ContainsFunc(messages, func(m llm.Message) bool { return m.Role != llm.RoleAssistant && len(m.Calls()) > 0 })
}

// words is all that a target would be told, of any kind.
func words(messages []llm.Message) string {
	var all string
	for _, m := range messages {
		for _, p := range m.Parts {
			all += strings.TrimSpace(p.Text)
			if p.Image != nil || p.Call != nil {
				all += "x"
			}
		}
	}
	return all
}

// lostText is the first text of from that is not in to, in its order.
func lostText(from, to []llm.Message) string {
	var said []string
	for _, m := range to {
		for _, p := range m.Parts {
			if p.Text != "" {
				said = append(said, p.Text)
			}
		}
	}
	for _, m := range from {
		for _, p := range m.Parts {
			text := strings.ToValidUTF8(p.Text, "\uFFFD")
			if strings.TrimSpace(text) == "" {
				continue
			}
			at := slices.Index(said, text)
			if at < 0 {
				return text
			}
			said = said[at+1:]
		}
	}
	return ""
}

// checkRepairs: a repair is named if and only if it was made.
func checkRepairs(t *rapid.T, from []llm.Message, told handover.Told, to handover.Target) {
	named := map[llm.RepairKind]int{}
	for _, r := range told.Repairs {
		if r.Count < 1 || named[r.Kind] > 0 {
			t.Fatalf("repairs %+v", told.Repairs)
		}
		named[r.Kind] = r.Count
	}
	want := map[llm.RepairKind]int{}
	for _, m := range from {
		for _, p := range m.Parts {
			switch foreign := m.Model != to.Model; {
			case p.Thinking != nil && foreign:
				want[llm.RepairThinking]++
			case p.Call != nil && foreign && p.Call.Signature != "":
				want[llm.RepairSignature]++
			case p.Image != nil && (to.NoImages || m.Role == llm.RoleAssistant):
				want[llm.RepairImage]++
			}
		}
	}
	for _, kind := range []llm.RepairKind{llm.RepairThinking, llm.RepairSignature, llm.RepairImage} {
		if named[kind] != want[kind] {
			t.Fatalf("%s is said %d times, made %d times", kind, named[kind], want[kind])
		}
	}
	missing := 0
	for _, m := range told.Messages {
		for _, p := range m.Parts {
			if p.Result != nil && p.Result.Text == "No result provided" && p.Result.IsError {
				missing++
			}
		}
	}
	if named[llm.RepairResultMissing] != missing {
		t.Fatalf("%d results were missing, %d are said", missing, named[llm.RepairResultMissing])
	}
}

func BenchmarkTranscript(b *testing.B) {
	var messages []llm.Message
	for range 200 {
		messages = append(messages, llm.User("q"), said(thought("t", "s"), call("c")), result("c", strings.Repeat("x", 200)))
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := handover.Transcript(messages, handover.Target{Model: "b/m", MaxID: 64, Alternate: true}); err != nil {
			b.Fatal(err)
		}
	}
}

// TestI38WithoutReasoning: nothing is left of reasoning and signatures, and all else is, in its
// order; what is handed over then needs no repair for them, whoever is asked.
func TestI38WithoutReasoning(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		messages, to := drawTranscript(t), drawTarget(t)
		before := deepCopy(t, messages)
		kept, leftOut := handover.WithoutReasoning(messages)
		if !reflect.DeepEqual(messages, before) {
			t.Fatal("the transcript that was given has changed")
		}
		var want, got []llm.Part
		there := 0
		for _, m := range messages {
			for _, p := range m.Parts {
				switch p = copyPart(p); {
				case p.Thinking != nil:
					there++
					continue
				case p.Call != nil && p.Call.Signature != "":
					there++
					p.Call.Signature = ""
				}
				want = append(want, p)
			}
		}
		for _, m := range kept {
			got = append(got, m.Parts...)
		}
		if leftOut != there || !reflect.DeepEqual(got, want) {
			t.Fatalf("%d of %d were left out:\n%s\nbecame\n%s", leftOut, there, spell(messages), spell(kept))
		}
		told, err := handover.Transcript(kept, to)
		if err != nil {
			t.Skip("nothing to tell")
		}
		for _, fix := range told.Repairs {
			if fix.Kind == llm.RepairThinking || fix.Kind == llm.RepairSignature {
				t.Fatalf("%+v is left to repair", fix)
			}
		}
	})
}
