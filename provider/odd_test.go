package provider_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/provider"
)

// told is an answer as the events of a Chat Completions stream, without its end.
func told(text string) string {
	var b strings.Builder
	for word := range strings.SplitAfterSeq(text, " ") {
		content, _ := json.Marshal(word)
		fmt.Fprintf(&b, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%s}}]}\n\n", content)
	}
	return b.String()
}

func ended(reason string) string {
	return fmt.Sprintf("data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":%q}]}\n\n", reason)
}

const done = "data: [DONE]\n\n"

// playing is one entry whose server says each of these once.
func playing(t testing.TB, bodies ...string) *provider.Set {
	return serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, bodies[0])
		if len(bodies) > 1 {
			bodies = bodies[1:]
		}
	})
}

// TestOddAndWell has servers that end their answers in ways of their own, and beside each
// what is cut and looks like it.
func TestOddAndWell(t *testing.T) {
	const text = "It is 14 °C and clear."
	whole, half := told(text), told("It is 14 ")
	for name, c := range map[string]struct {
		bodies []string
		want   string // what becomes of each: "a" = an answer, "c" = cut
	}{
		"no reason, ever":                     {[]string{whole + done, whole + done, told("Other.") + done}, "caa"},
		"no reason, another text":             {[]string{half + done, whole + done, told("Other.") + done}, "ccc"},
		"no reason, by one that names some":   {[]string{whole + ended("stop") + done, half + done, half + done, half + done}, "accc"},
		"no reason, and then one":             {[]string{whole + done, whole + done, whole + ended("stop") + done, half + done, half + done}, "caacc"},
		"no reason and no [DONE]":             {[]string{whole, whole, whole}, "ccc"},
		"nothing but [DONE]":                  {[]string{done, done}, "cc"},
		"end":                                 {[]string{whole + ended("end") + done, whole + ended("end")}, "aa"},
		"a word of its own":                   {[]string{whole + ended("wrapped_up") + done}, "a"},
		"a word of its own, and no [DONE]":    {[]string{half + ended("wrapped_up")}, "c"},
		"a word that sounds like a break":     {[]string{half + ended("gave_up") + done, half + ended("client_disconnected") + done}, "cc"},
		"a word that sounds like a failure":   {[]string{half + ended("engine_error") + done}, "c"},
		"no role and no [DONE]":               {[]string{whole + ended("stop")}, "a"},
		"a word of its own, and then nothing": {[]string{ended("wrapped_up") + done}, "c"},
	} {
		s, got := playing(t, c.bodies...), ""
		for range c.bodies {
			answer, err := hear(t.Context(), t, s, ask("openai"))
			switch {
			case err == nil && answer.Stop == llm.StopEnd:
				got += "a"
			case err != nil && answer.Stop == "":
				got += "c"
			default:
				t.Errorf("%s: %v, %+v", name, err, answer)
			}
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestACutIsNoAnswer cuts the answers of every kind of server anywhere, twice: it never
// passes as an answer unless its end was there.
func TestACutIsNoAnswer(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		text := rapid.StringMatching(`[a-z]{1,6}( [a-z]{1,6}){0,6}`).Draw(r, "text")
		end := rapid.SampledFrom([]string{ended("stop") + done, ended("end") + done, ended("wrapped_up") + done, done}).Draw(r, "end")
		body := told(text) + end
		cut := rapid.IntRange(0, len(body)).Draw(r, "cut")
		s := playing(t, body[:cut])
		for try := range 2 {
			answer, err := hear(t.Context(), t, s, ask("openai"))
			got := answer.Message("").Text()
			if err == nil && got != text {
				r.Fatalf("cut at %d of %d, try %d: %q for %q", cut, len(body), try, got, text)
			}
			if cut == len(body) && (try == 1 || end != done) && err != nil {
				r.Fatalf("whole, try %d: %v", try, err)
			}
		}
	})
}

// TestTwoCallsWithOneID: the ids of calls are made unique, whatever the server says.
func TestTwoCallsWithOneID(t *testing.T) {
	piece := func(index, name, args string) string {
		return fmt.Sprintf("data: {\"choices\":[{\"delta\":{\"tool_calls\":[{%s\"id\":\"call_1\",\"function\":{\"name\":%q,\"arguments\":%q}}]}}]}\n\n", index, name, args)
	}
	for name, body := range map[string]string{
		"two indexes":         piece(`"index":0,`, "f", `{"a":1}`) + piece(`"index":1,`, "g", `{"a":2}`),
		"one index":           piece(`"index":0,`, "f", `{"a":1}`) + piece(`"index":0,`, "g", `{"a":2}`),
		"none":                piece("", "f", `{"a":1}`) + piece("", "g", `{"a":2}`),
		"the name repeatedly": piece(`"index":0,`, "f", `{"a"`) + piece(`"index":0,`, "f", `:1}`) + piece(`"index":1,`, "g", `{"a":2}`),
	} {
		answer, err := hear(t.Context(), t, playing(t, body+ended("tool_calls")+done), ask("openai"))
		calls := answer.Message("m").Calls()
		if err != nil || len(calls) != 2 || calls[0].ID != "call_1" || calls[1].ID == "call_1" || calls[1].ID == "" ||
			string(calls[0].Args) != `{"a":1}` || string(calls[1].Args) != `{"a":2}` || calls[1].Name != "g" {
			t.Errorf("%s: %v, %+v", name, err, calls)
		}
	}
}
