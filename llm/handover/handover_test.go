package handover_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/llm/handover"
)

func said(parts ...llm.Part) llm.Message {
	return llm.Message{Role: llm.RoleAssistant, Parts: parts, Model: "a/m"}
}

func call(id string) llm.Part {
	return llm.Part{Call: &llm.ToolCall{ID: id, Name: "f", Args: json.RawMessage(`{}`)}}
}

func result(id, text string) llm.Message {
	return llm.Message{Role: llm.RoleTool, Parts: []llm.Part{{Result: &llm.ToolResult{CallID: id, Name: "f", Text: text}}}}
}

func thought(text, signature string) llm.Part {
	return llm.Part{Thinking: &llm.Thinking{Text: text, Signature: signature}}
}

// spell writes a transcript in short.
func spell(messages []llm.Message) string {
	var out []string
	for _, m := range messages {
		line := string(m.Role[:1]) + ":"
		for _, p := range m.Parts {
			switch {
			case p.Call != nil:
				line += " call(" + p.Call.ID + ")"
			case p.Result != nil:
				line += fmt.Sprintf(" result(%s %s %v)", p.Result.CallID, p.Result.Text, p.Result.IsError)
			case p.Thinking != nil:
				line += " thought"
			case p.Image != nil:
				line += " picture"
			default:
				line += " " + p.Text
			}
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

func TestTranscript(t *testing.T) {
	picture := llm.Part{Image: &llm.Image{MediaType: "image/png", Data: []byte("x")}}
	long := strings.Repeat("x", 80)
	for _, c := range []struct {
		name     string
		model    string
		messages []llm.Message
		want     string
	}{
		{"own thinking", "a/m", []llm.Message{llm.User("q"), said(thought("t", "s"), llm.Part{Text: "x"})}, "u: q\na: thought x"},
		{"own thinking, unsigned", "a/m", []llm.Message{llm.User("q"), said(thought("t", ""), llm.Part{Text: "x"})}, "u: q\na: x"},
		{"foreign thinking", "a/n", []llm.Message{llm.User("q"), said(thought("t", "s"), llm.Part{Text: "x"})}, "u: q\na: x"},
		{"nothing but foreign thinking", "b/m", []llm.Message{llm.User("q"), said(thought("t", "s"))}, "u: q"},
		{"blank text", "a/m", []llm.Message{llm.User("q"), said(llm.Part{Text: " \n"}), llm.User("r")}, "u: q\nu: r"},
		{"orphan at the end", "a/m", []llm.Message{llm.User("q"), said(call("1"))}, "u: q\na: call(1)\nt: result(1 No result provided true)"},
		{"orphan before a user", "a/m", []llm.Message{llm.User("q"), said(call("1"), call("2")), result("2", "ok"), llm.User("r")}, "u: q\na: call(1) call(2)\nt: result(1 No result provided true) result(2 ok false)\nu: r"},
		{"late result", "a/m", []llm.Message{llm.User("q"), said(call("1")), llm.User("r"), result("1", "ok")}, "u: q\na: call(1)\nt: result(1 ok false)\nu: r"},
		{"result of nothing", "a/m", []llm.Message{llm.User("q"), result("9", "ok")}, "u: q"},
		{"the same result twice", "a/m", []llm.Message{llm.User("q"), said(call("1")), result("1", "ok"), result("1", "again")}, "u: q\na: call(1)\nt: result(1 ok false)"},
		{"illegal id", "b/m", []llm.Message{llm.User("q"), said(call("call|1")), result("call|1", "ok")}, "u: q\na: call(call_1)\nt: result(call_1 ok false)"},
		{"picture of a tool", "a/m", []llm.Message{llm.User("q"), said(call("1")), {Role: llm.RoleTool, Parts: append(result("1", "ok").Parts, picture)}}, "u: q\na: call(1)\nt: result(1 ok false)\nu: picture"},
		{"long id", "b/m", []llm.Message{llm.User("q"), said(call(long)), result(long, "ok")}, "u: q\na: call(" + long[:40] + ")\nt: result(" + long[:40] + " ok false)"},
		{"not UTF-8", "a/m", []llm.Message{llm.User("a\xffb")}, "u: a\uFFFDb"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := handover.Transcript(c.messages, handover.Target{Model: c.model, MaxID: 40})
			if err != nil || spell(got.Messages) != c.want {
				t.Errorf("%v\n%s\nwant\n%s", err, spell(got.Messages), c.want)
			}
		})
	}
}

// TestIDsStayApart: calls whose ids collide, or are used again, keep their own results.
func TestIDsStayApart(t *testing.T) {
	long := strings.Repeat("x", 60)
	messages := []llm.Message{
		llm.User("q"),
		said(call("a|b"), call("a.b"), call(long+"1"), call(long+"2"), call("")), result("a|b", "1"), result("a.b", "2"), result(long+"1", "3"), result(long+"2", "4"), result("", "5"),
		said(call("again")), llm.User("no answer"),
		said(call("again")), result("again", "7"),
	}
	got, err := handover.Transcript(messages, handover.Target{Model: "b/m", MaxID: 40})
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, m := range got.Messages {
		for _, p := range m.Parts {
			if p.Result == nil {
				continue
			}
			if id := p.Result.CallID; texts[id] != "" || len(id) > 40 || id == "" {
				t.Errorf("id %q is used twice or illegal", id)
			}
			texts[p.Result.CallID] = p.Result.Text
		}
	}
	var order []string
	for _, m := range got.Messages {
		for _, c := range m.Calls() {
			order = append(order, texts[c.ID])
		}
	}
	if strings.Join(order, ",") != "1,2,3,4,5,No result provided,7" {
		t.Error(order)
	}
}
