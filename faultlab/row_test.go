package faultlab_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/faultlab/catalogue"
)

// callers are the simplest requests that each wire takes, with a tool.
var callers = map[string]side{
	"anthropic": {
		path: "/v1/messages", header: map[string]string{"X-Api-Key": "k", "Anthropic-Version": "2023-06-01"},
		ask: `{"model":"m","max_tokens":10,"stream":true,"messages":[{"role":"user","content":"hi"}],"tools":[{"name":"look_up","input_schema":{"type":"object"}}]}`,
	},
	"openai": {
		path: "/v1/chat/completions", header: map[string]string{"Authorization": "Bearer k"},
		ask: `{"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function","function":{"name":"look_up","parameters":{"type":"object"}}}]}`,
	},
	"responses": {
		path: "/v1/responses", header: map[string]string{"Authorization": "Bearer k"},
		ask: `{"model":"m","stream":true,"input":"hi","tools":[{"type":"function","name":"look_up","parameters":{"type":"object","properties":{}}}]}`,
	},
	"gemini": {
		path: "/v1beta/models/m:streamGenerateContent?alt=sse", header: map[string]string{"X-Goog-Api-Key": "k"},
		ask: `{"contents":[{"role":"user","parts":[{"text":"hi"}]}],"tools":[{"functionDeclarations":[{"name":"look_up"}]}]}`,
	},
}

// played is what a request brought.
type played struct {
	resp *http.Response // nil if there was none
	body string
	err  error
}

func ask(ctx context.Context, c *http.Client, url, wire string) played {
	s := callers[wire]
	s.header["Accept-Encoding"] = "identity" // so that a body is read as it comes
	resp, err := s.post(ctx, c, url, s.ask)
	if err != nil {
		return played{err: err}
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return played{resp, string(body), err}
}

// bubble is a lab and a client in memory, where time costs nothing.
func bubble(t *testing.T, test func(*testing.T, *faultlab.Lab, *http.Client, string)) {
	synctest.Test(t, func(t *testing.T) {
		lab := faultlab.New()
		ln := faultlab.NewMemListener()
		server, client := lab.Serve(ln), ln.Client()
		client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		test(t, lab, client, server.URL())
		client.CloseIdleConnections()
		server.Close()
		lab.Close()
	})
}

// flat is what acts send, endless repeats once, and how they end.
func flat(v catalogue.Values, acts []catalogue.Act) (string, catalogue.Do) {
	var sent strings.Builder
	end := catalogue.Send
	for _, a := range acts {
		switch a.Do {
		case catalogue.Send:
			sent.WriteString(v.Fill(a.Data))
		case catalogue.Raw:
			end = catalogue.Raw
		case catalogue.Big:
			sent.WriteString(strings.Repeat("x", int(a.Size)))
		case catalogue.Repeat:
			inner, _ := flat(v, a.Acts)
			sent.WriteString(strings.Repeat(inner, max(1, a.Times)))
			if a.Times == 0 {
				end = catalogue.Hang
			}
		case catalogue.Hang, catalogue.Cut, catalogue.Reset:
			if end == catalogue.Send {
				end = a.Do
			}
		}
	}
	return sent.String(), end
}

// TestRowsArePlayed plays every script and compares what arrives with what it says.
func TestRowsArePlayed(t *testing.T) {
	bubble(t, func(t *testing.T, lab *faultlab.Lab, client *http.Client, url string) {
		for _, s := range catalogue.All() {
			if s.Wire == "" || s.Status == 0 {
				continue
			}
			step, err := faultlab.Row(s.Name())
			if err != nil {
				t.Fatal(err)
			}
			lab.Script("m", step)
			v := catalogue.Values{Now: time.Now(), Model: "m", Tool: "look_up"}
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			p := ask(ctx, client, url, s.Wire)
			cancel()
			checkPlayed(t, s, v, p)
			if list := lab.Requests(); list[len(list)-1].Step != "row:"+s.Name() {
				t.Errorf("%s is listed as %s", s.Name(), list[len(list)-1].Step)
			}
		}
	})
}

func checkPlayed(t *testing.T, s catalogue.Script, v catalogue.Values, p played) {
	t.Helper()
	if p.resp == nil || p.resp.StatusCode != s.Status {
		t.Errorf("%s on %s: %v %.200s", s.Name(), s.Wire, p.err, p.body)
		return
	}
	for _, h := range s.Header {
		if got := p.resp.Header.Get(h[0]); got != v.Fill(h[1]) {
			t.Errorf("%s on %s: %s is %q, want %q", s.Name(), s.Wire, h[0], got, v.Fill(h[1]))
		}
	}
	want, end := flat(v, s.Acts)
	whole := p.body == want
	var right bool
	switch end {
	case catalogue.Hang:
		whole = strings.HasPrefix(p.body, want)
		right = errors.Is(p.err, context.DeadlineExceeded)
	case catalogue.Cut, catalogue.Reset:
		right = errors.Is(p.err, io.ErrUnexpectedEOF)
	case catalogue.Raw:
		right = p.err != nil && strings.Contains(p.err.Error(), "chunk length")
	default:
		right = p.err == nil
	}
	if !right || !whole {
		t.Errorf("%s on %s: %v, %d bytes, want %d: %.300s", s.Name(), s.Wire, p.err, len(p.body), len(want), p.body)
	}
}

func TestRawRows(t *testing.T) {
	bubble(t, func(t *testing.T, lab *faultlab.Lab, client *http.Client, url string) {
		for wire := range callers {
			for row, want := range map[string]string{
				"T15": "deadline exceeded", "T16": "EOF", "T17": "EOF", "T18": `malformed HTTP response "SSH-2.0-OpenSSH_9.2"`, "T23": "",
			} {
				lab.Script("m", must(t, row))
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				p := ask(ctx, client, url, wire)
				cancel()
				switch {
				case want != "" && (p.err == nil || !strings.Contains(p.err.Error(), want)):
					t.Errorf("%s on %s: %v, want %s", row, wire, p.err, want)
				case want == "" && (p.err != nil || p.resp.ProtoMinor != 0 || !strings.Contains(p.body, "14 °C")):
					t.Errorf("%s on %s: %v %s", row, wire, p.err, p.body)
				}
			}
		}
	})
}

func must(t *testing.T, row string) faultlab.Step {
	t.Helper()
	step, err := faultlab.Row(row)
	if err != nil {
		t.Fatal(err)
	}
	return step
}

func TestRowResetsTCP(t *testing.T) {
	lab := faultlab.New()
	server, err := lab.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	lab.Script("m", must(t, "T16"))
	if p := ask(t.Context(), http.DefaultClient, server.URL(), "openai"); !errors.Is(p.err, syscall.ECONNRESET) {
		t.Error(p.err)
	}
}

func TestRowOnAnotherWire(t *testing.T) {
	lab, client, url := start(t)
	lab.Script("m", must(t, "A03"), must(t, "O15"))
	p := ask(t.Context(), client, url, "openai")
	if p.err != nil || p.resp.StatusCode != http.StatusBadRequest || !strings.Contains(p.body, "only for anthropic") || !strings.Contains(p.body, "invalid_request_error") {
		t.Errorf("%+v", p)
	}
	if p := ask(t.Context(), client, url, "anthropic"); p.err != nil || p.resp.StatusCode != http.StatusTooManyRequests {
		t.Errorf("the refusal used up the step: %+v", p)
	}
	if p := ask(t.Context(), client, url, "responses"); p.err != nil || p.resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("%+v", p)
	}
	if list := lab.Requests(); list[0].Step != "rejected" || !strings.Contains(list[0].Refused, "row:A03") || list[1].Step != "row:A03" {
		t.Errorf("%+v", list)
	}
}

func TestKind(t *testing.T) {
	lab, client, url := start(t)
	steps, err := faultlab.Parse("kind:overloaded, answer:Done")
	if err != nil {
		t.Fatal(err)
	}
	lab.Script("m", steps...)
	want := []string{"row:A06", "row:T52", "row:T55", "answer", "answer"}
	for range want {
		ask(t.Context(), client, url, "anthropic")
	}
	for i, r := range lab.Requests() {
		if r.Step != want[i] {
			t.Errorf("request %d played %s, want %s", i+1, r.Step, want[i])
		}
	}
	steps, _ = faultlab.Parse("kind:empty_response")
	lab.Script("m", steps...)
	if p := ask(t.Context(), client, url, "openai"); p.resp.StatusCode != http.StatusBadRequest || !strings.Contains(p.body, "only for") {
		t.Errorf("no row of that kind is for the wire: %+v", p)
	}
	for range 2 {
		ask(t.Context(), client, url, "anthropic")
	}
	list := lab.Requests()
	if list[len(list)-1].Step != "row:A39" || list[len(list)-2].Step != "row:A39" {
		t.Errorf("%+v", list)
	}
}

func TestRowErrors(t *testing.T) {
	for script, want := range map[string]string{
		"row:Z99": `no row "Z99"`, "row": "no row", "row:T07": `transport "tls-unknown-ca"`, "row:T63": "no server can play",
		"kind:tls": "can be played over HTTP", "kind:nonsense": "no row of the kind", "kind": "unknown step",
		strings.Repeat("kind:context_overflow\n", 40): "more than 256",
	} {
		if _, err := faultlab.Parse(script); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.30q: %v, want %s", script, err, want)
		}
	}
}
