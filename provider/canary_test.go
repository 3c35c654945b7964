package provider_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/llm"
)

// holdsNoKey fails if anything that was told holds the key, read as JSON is read.
func holdsNoKey(t *testing.T, what string, told any) {
	t.Helper()
	text, err := json.Marshal(told)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"odd", "chars", "test-key", "b2Rk"} {
		if strings.Contains(string(text), part) {
			t.Errorf("%s: %q in %s", what, part, text)
		}
	}
	if !strings.Contains(string(text), "[redacted]") {
		t.Errorf("%s: nothing was there to be hidden: %s", what, text)
	}
}

// TestAnswersHoldNoKey has a model that says the key on each wire, in text and in a call.
func TestAnswersHoldNoKey(t *testing.T) {
	for _, wire := range wires {
		lab, s := start(t)
		args, _ := json.Marshal(map[string]string{"key": key})
		lab.Script("m", faultlab.ToolCalls("The key is "+key+" or so.", faultlab.Call{Name: "f", Args: string(args)}))
		request := ask(wire)
		request.Tools = []llm.Tool{{Name: "f"}}
		answer, err := hear(t.Context(), t, s, request)
		said := answer.Message("m")
		if err != nil || len(said.Calls()) != 1 || said.Text() != "The key is [redacted] or so." || string(said.Calls()[0].Args) != `{"key":"[redacted]"}` {
			t.Errorf("%s: %v, %+v", wire, err, said)
		}
		holdsNoKey(t, wire, said)
	}
}

// TestKeyInPieces has one that says it a byte at a time, as people might not expect it, with
// other things in between.
func TestKeyInPieces(t *testing.T) {
	spelt := strings.NewReplacer(`/`, `\/`, `"`, `\u0022`, `+`, `%2b`).Replace(key)
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		say := func(member, text string) {
			b, _ := json.Marshal(text)
			fmt.Fprintf(w, "data: {\"id\":%s,\"choices\":[{\"delta\":{%s}}]}\n\n", quoteJSON(key), strings.Replace(member, "$", string(b), 1))
		}
		for i := range len(spelt) {
			say(`"reasoning":$`, spelt[i:i+1])
		}
		for i := range len(spelt) {
			say(`"content":$`, spelt[i:i+1])
		}
		say(`"tool_calls":[{"index":0,"id":$,"function":{"name":"f","arguments":"{\"a\":\""}}]`, key)
		for i := range len(spelt) {
			say(`"tool_calls":[{"index":0,"function":{"arguments":$}}]`, spelt[i:i+1])
		}
		say(`"tool_calls":[{"index":0,"function":{"arguments":$}}]`, `"}`)
		_, _ = io.WriteString(w, "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n")
	})
	answer, err := hear(t.Context(), t, s, ask("openai"))
	if err != nil {
		t.Fatal(err)
	}
	said := answer.Message("m")
	holdsNoKey(t, "in pieces", said)
	if id := said.Calls()[0].ID; !strings.HasPrefix(id, "call_") || said.Text() != key[:2]+"[redacted]" || string(said.Calls()[0].Args) != `{"a":"`+key[:2]+`[redacted]"}` || answer.RequestID != "[redacted]" {
		t.Errorf("%+v", said)
	}
}

// TestHalfAKeyBesideACut: text that is held back because a key might follow is not lost when the
// answer is cut.
func TestHalfAKeyBesideACut(t *testing.T) {
	for _, wire := range wires {
		lab, s := start(t)
		lab.Script("m", faultlab.CutAfter("It begins with "+key[:6]))
		answer, err := hear(t.Context(), t, s, ask(wire))
		if got := answer.Message("m").Text(); err == nil || got != "It begins with "+key[:6] {
			t.Errorf("%s: %q, %v", wire, got, err)
		}
	}
}

// TestErrorsHoldNoKey has errors that hold it as servers write it.
func TestErrorsHoldNoKey(t *testing.T) {
	hex := ""
	for _, r := range key {
		hex += fmt.Sprintf(`\u%04X`, r)
	}
	for name, spelt := range map[string]string{
		"\\u00XX": hex, "slashes": strings.NewReplacer(`/`, `\/`, `"`, `\"`).Replace(key),
		"lower case": strings.NewReplacer("/", "%2f", "+", "%2b", `"`, "%22", "=", "%3d").Replace(key),
		"HTML":       strings.NewReplacer("+", "&#43;", `"`, "&#34;", "/", "&sol;").Replace(key),
	} {
		s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprintf(w, `{"error":{"type":"authentication_error","code":"%s","message":"bad key %s"}}`, spelt, spelt)
		})
		for _, wire := range wires {
			_, err := hear(t.Context(), t, s, ask(wire))
			holdsNoKey(t, name+" on "+wire, err)
		}
	}
}

// TestSetRedacts: the keys of all entries are known before any of them is asked.
func TestSetRedacts(t *testing.T) {
	if got := set(t, "http://127.0.0.1:1").Redact("it is " + key); got != "it is [redacted]" {
		t.Error(got)
	}
}

func quoteJSON(text string) string {
	b, _ := json.Marshal(text)
	return string(b)
}
