package faultlab_test

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mulligan-run/mulligan/faultlab"
)

// side is what the tests need to know of a wire to talk on it.
type side struct {
	name, path string
	header     map[string]string
	ask        string               // a request for model "m", streaming
	take       func(*heard, []byte) // what a frame's data says
	keyless    int                  // the status without a key
}

var sides = []side{
	{
		name: "anthropic", path: "/v1/messages",
		header: map[string]string{"X-Api-Key": "secret-key", "Anthropic-Version": "2023-06-01"},
		ask:    `{"model":"m","max_tokens":10,"stream":true,"messages":[{"role":"user","content":"hi"}]}`,
		take:   takeAnthropic, keyless: 401,
	},
	{
		name: "openai", path: "/v1/chat/completions",
		header: map[string]string{"Authorization": "Bearer secret-key"},
		ask:    `{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"hi"}]}`,
		take:   takeOpenAI, keyless: 401,
	},
	responsesSide,
	geminiSide,
}

// whole is the side without streaming.
func (s side) whole() side {
	s.path = strings.Replace(s.path, "streamGenerateContent?alt=sse", "generateContent", 1)
	s.ask = strings.Replace(s.ask, `"stream":true,`, "", 1)
	s.ask = strings.Replace(s.ask, `"stream_options":{"include_usage":true},`, "", 1)
	return s
}

func (s side) post(ctx context.Context, c *http.Client, url, body string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url+s.path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	for k, v := range s.header {
		r.Header.Set(k, v)
	}
	return c.Do(r)
}

// heard is what a careful client makes of an answer.
type heard struct {
	status   int
	header   http.Header
	thought  string
	seal     string // what stands for the thought
	text     string
	tools    map[int]string // index → name + arguments
	ids      []string
	stop     string
	terminal bool
	usage    bool
	events   int
	failure  string // the error's type
	bad      bool   // a frame that is not JSON
	body     string // of an error
	err      error
}

func (s side) hear(ctx context.Context, c *http.Client, url, body string) heard {
	resp, err := s.post(ctx, c, url, body)
	if err != nil {
		return heard{err: err}
	}
	defer resp.Body.Close()
	h := heard{status: resp.StatusCode, header: resp.Header, tools: map[int]string{}}
	if resp.StatusCode != http.StatusOK || !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		raw, err := io.ReadAll(resp.Body)
		h.body, h.err = string(raw), err
		var e envelope
		_ = json.Unmarshal(raw, &e)
		h.failure = cmp.Or(e.Error.Type, e.Error.Status)
		return h
	}
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			h.events++
			s.take(&h, []byte(data))
		}
	}
	h.err = lines.Err()
	return h
}

type envelope struct {
	Error struct{ Type, Status, Message string }
}

// read reads a frame; false if it is not JSON.
func (h *heard) read(data []byte, into any) bool {
	var e envelope
	if json.Unmarshal(data, into) != nil || json.Unmarshal(data, &e) != nil {
		h.bad = true
		return false
	}
	h.failure = cmp.Or(h.failure, e.Error.Type, e.Error.Status)
	return true
}

func takeAnthropic(h *heard, data []byte) {
	var e struct {
		Type  string
		Index int
		Block struct{ Type, ID, Name string } `json:"content_block"`
		Delta struct {
			Text, Thinking, Signature string
			JSON                      string  `json:"partial_json"`
			Stop                      *string `json:"stop_reason"`
		}
		Usage map[string]any
	}
	if !h.read(data, &e) {
		return
	}
	h.usage = h.usage || len(e.Usage) > 0
	h.text += e.Delta.Text
	h.thought += e.Delta.Thinking
	h.seal += e.Delta.Signature
	if e.Block.Type == "tool_use" {
		h.ids = append(h.ids, e.Block.ID)
		h.tools[e.Index] = e.Block.Name
	}
	if e.Delta.JSON != "" {
		h.tools[e.Index] += e.Delta.JSON
	}
	if e.Delta.Stop != nil {
		h.stop = *e.Delta.Stop
	}
	h.terminal = h.terminal || e.Type == "message_stop"
}

func takeOpenAI(h *heard, data []byte) {
	if string(data) == "[DONE]" {
		h.terminal = h.stop != ""
		return
	}
	var e struct {
		Usage   map[string]any
		Choices []struct {
			Finish *string `json:"finish_reason"`
			Delta  struct {
				Content string
				Thought string `json:"reasoning_content"`
				Calls   []struct {
					Index    int
					ID       string
					Function struct{ Name, Arguments string }
				} `json:"tool_calls"`
			}
		}
	}
	if !h.read(data, &e) {
		return
	}
	h.usage = h.usage || len(e.Usage) > 0
	for _, c := range e.Choices {
		h.text += c.Delta.Content
		h.thought += c.Delta.Thought
		if c.Finish != nil {
			h.stop = *c.Finish
		}
		for _, t := range c.Delta.Calls {
			if t.ID != "" {
				h.ids = append(h.ids, t.ID)
			}
			h.tools[t.Index] += t.Function.Name + t.Function.Arguments
		}
	}
}

// stepCase is one step and what must be heard of it.
type stepCase struct {
	step faultlab.Step
	name string
	want func(t *testing.T, s side, h heard)
}

const partial = "Hello big wor"

func status(code int) func(*testing.T, side, heard) {
	return func(t *testing.T, _ side, h heard) {
		if h.status != code || h.failure == "" {
			t.Errorf("status %d, error type %q; want %d and a type", h.status, h.failure, code)
		}
	}
}

// broken: the text came, the terminal event did not.
func broken(check func(h heard) bool) func(*testing.T, side, heard) {
	return func(t *testing.T, _ side, h heard) {
		if h.status != 200 || h.text != partial || h.terminal || !check(h) {
			t.Errorf("heard %+v", h)
		}
	}
}

var stepCases = []stepCase{
	{faultlab.Answer("All is good."), "answer", func(t *testing.T, s side, h heard) {
		if h.err != nil || h.text != "All is good." || !h.terminal || !h.usage || h.events < 4 {
			t.Errorf("heard %+v", h)
		}
	}},
	{faultlab.SlowAnswer("so slow", time.Millisecond), "slow", func(t *testing.T, s side, h heard) {
		if h.text != "so slow" || !h.terminal {
			t.Errorf("heard %+v", h)
		}
	}},
	{
		faultlab.ToolCalls("Let me see.", faultlab.Call{Name: "a", Args: `{"x":"é"}`}, faultlab.Call{Name: "b"}), "tool",
		func(t *testing.T, s side, h heard) {
			got := fmt.Sprint(h.text, h.tools, h.stop)
			want := map[string]string{
				"anthropic": `Let me see.map[1:a{"x":"é"} 2:b{}]tool_use`,
				"openai":    `Let me see.map[0:a{"x":"é"} 1:b{}]tool_calls`,
				"responses": `Let me see.map[1:a{"x":"é"} 2:b{}]completed`,
				"gemini":    `Let me see.map[0:a{"x":"é"} 1:b{}]STOP`,
			}[s.name]
			if got != want || !h.terminal || s.name != "gemini" && (len(h.ids) != 2 || h.ids[0] == h.ids[1] || len(h.ids[0]) > 40) {
				t.Errorf("heard %s ids %q, want %s", got, h.ids, want)
			}
		},
	},
	{faultlab.RateLimited(1500 * time.Millisecond), "429", func(t *testing.T, s side, h heard) {
		status(429)(t, s, h)
		if h.header.Get("Retry-After") != "2" || h.header.Get("Retry-After-Ms") != "1500" {
			t.Errorf("header %v", h.header)
		}
	}},
	{faultlab.Unavailable(), "503", status(503)},
	{faultlab.Unauthorized(), "401", status(401)},
	{faultlab.Status(418, map[string]string{"X-Y": "z"}, `{"error":{"type":"teapot"}}`), "418", status(418)},
	{faultlab.Overloaded(), "529", func(t *testing.T, s side, h heard) {
		status(map[string]int{"anthropic": 529, "openai": 503, "responses": 503, "gemini": 503}[s.name])(t, s, h)
	}},
	{faultlab.HTML502(), "html502", func(t *testing.T, s side, h heard) {
		if h.status != 502 || h.header.Get("Content-Type") != "text/html" || !strings.Contains(h.body, "502 Bad Gateway") {
			t.Errorf("heard %+v", h)
		}
	}},
	{faultlab.Hang(), "hang", func(t *testing.T, s side, h heard) {
		if h.status != 0 || !errors.Is(h.err, context.DeadlineExceeded) {
			t.Errorf("heard %+v", h)
		}
	}},
	{faultlab.StallAfter(partial), "stall", broken(func(h heard) bool { return errors.Is(h.err, context.DeadlineExceeded) })},
	{faultlab.CutAfter(partial), "cut", broken(func(h heard) bool {
		return errors.Is(h.err, io.ErrUnexpectedEOF) || errors.Is(h.err, syscall.ECONNRESET)
	})},
	{faultlab.ErrorEventAfter(partial), "error", broken(func(h heard) bool { return h.err == nil && h.failure != "" })},
	{faultlab.EndAfter(partial), "end", broken(func(h heard) bool { return h.err == nil })},
	{faultlab.Malformed(partial), "malformed", broken(func(h heard) bool { return h.err == nil && h.bad })},
	{faultlab.Empty200(), "empty", func(t *testing.T, s side, h heard) {
		if h.status != 200 || h.events != 0 || h.err != nil {
			t.Errorf("heard %+v", h)
		}
	}},
	{faultlab.Refuse(), "refuse", func(t *testing.T, s side, h heard) {
		if h.status != 0 || h.err == nil || errors.Is(h.err, context.DeadlineExceeded) {
			t.Errorf("heard %+v", h)
		}
	}},
}

func eachStep(t *testing.T, run func(t *testing.T, s side, c stepCase)) {
	for _, s := range sides {
		for _, c := range stepCases {
			t.Run(s.name+"/"+c.name, func(t *testing.T) { run(t, s, c) })
		}
	}
}

// try plays one step and checks what is heard and what is recorded.
func try(t *testing.T, lab *faultlab.Lab, client *http.Client, url string, patience time.Duration, s side, c stepCase) {
	t.Helper()
	lab.Script("m", c.step)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	c.want(t, s, s.hear(ctx, client, url, s.ask))
	got := lab.Requests()
	if len(got) != 1 || got[0].Step != c.name || got[0].Wire != s.name || got[0].Model != "m" || string(got[0].Body) != s.ask {
		t.Fatalf("requests %+v", got)
	}
	if strings.Contains(fmt.Sprint(got[0].Header), "secret-key") {
		t.Error("the key was not redacted")
	}
}

func TestStepsOverTCP(t *testing.T) {
	eachStep(t, func(t *testing.T, s side, c stepCase) {
		t.Parallel()
		lab := faultlab.New()
		server, err := lab.Listen("127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer server.Close()
		client := &http.Client{Transport: &http.Transport{}}
		defer client.CloseIdleConnections()
		patience := 20 * time.Second
		if c.name == "hang" || c.name == "stall" {
			patience = 300 * time.Millisecond
		}
		try(t, lab, client, server.URL(), patience, s, c)
	})
}

// A bubble ends only when all of its goroutines have: this is the leak test, too.
func TestStepsInMemory(t *testing.T) {
	eachStep(t, func(t *testing.T, s side, c stepCase) {
		synctest.Test(t, func(t *testing.T) {
			lab, ln := faultlab.New(faultlab.WithPace(time.Second)), faultlab.NewMemListener()
			server := lab.Serve(ln)
			client := ln.Client()
			try(t, lab, client, server.URL(), time.Hour, s, c)
			client.CloseIdleConnections()
			if err := server.Close(); err != nil {
				t.Error(err)
			}
			if err := lab.Close(); err != nil {
				t.Error(err)
			}
		})
	})
}

func TestCloseEndsEverything(t *testing.T) {
	for _, step := range []faultlab.Step{faultlab.Hang(), faultlab.StallAfter("x"), faultlab.SlowAnswer("a b c", time.Hour)} {
		for _, closeLab := range []bool{true, false} {
			t.Run(fmt.Sprint(step.Name(), closeLab), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					lab, ln := faultlab.New(), faultlab.NewMemListener()
					lab.Script("", step)
					server := lab.Serve(ln)
					client := ln.Client()
					got := make(chan heard)
					go func() { got <- sides[0].hear(context.Background(), client, server.URL(), sides[0].ask) }()
					synctest.Wait()
					if closeLab {
						lab.Close()
					} else {
						server.Close()
					}
					if h := <-got; h.err == nil || h.terminal {
						t.Errorf("heard %+v", h)
					}
					server.Close()
					lab.Close()
					client.CloseIdleConnections()
				})
			})
		}
	}
}

func TestCutIsAResetOverTCP(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("what a reset leaves readable differs between systems")
	}
	lab := faultlab.New()
	lab.Script("m", faultlab.Refuse())
	server, err := lab.Listen("localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	if h := sides[0].hear(t.Context(), http.DefaultClient, server.URL(), sides[0].ask); !errors.Is(h.err, syscall.ECONNRESET) {
		t.Errorf("got %v, want a reset", h.err)
	}
}

func TestScriptsAdvanceAndRepeat(t *testing.T) {
	lab, client, url := start(t)
	lab.Script("m", faultlab.Unavailable(), faultlab.Answer("a"))
	lab.Script("", faultlab.Unauthorized())
	var got []int
	for range 3 {
		got = append(got, sides[1].hear(t.Context(), client, url, sides[1].ask).status)
	}
	other := strings.Replace(sides[1].ask, `"m"`, `"other"`, 1)
	got = append(got, sides[1].hear(t.Context(), client, url, other).status)
	lab.Script("")
	got = append(got, sides[1].hear(t.Context(), client, url, other).status)
	if fmt.Sprint(got) != "[503 200 200 401 404]" {
		t.Error(got)
	}
}

func start(t *testing.T) (*faultlab.Lab, *http.Client, string) {
	t.Helper()
	lab := faultlab.New()
	ln := faultlab.NewMemListener()
	server := lab.Serve(ln)
	client := ln.Client()
	t.Cleanup(func() { client.CloseIdleConnections(); server.Close(); lab.Close() })
	return lab, client, server.URL()
}

func TestWholeAnswers(t *testing.T) {
	for _, s := range sides {
		t.Run(s.name, func(t *testing.T) {
			lab, client, url := start(t)
			lab.Script("m", faultlab.ToolCalls("Well.", faultlab.Call{Name: "f", Args: `{"a":1}`}), faultlab.CutAfter("Well then"), faultlab.EndAfter("Well"), faultlab.ErrorEventAfter("x"))
			s := s.whole()
			h := s.hear(t.Context(), client, url, s.ask)
			for _, want := range []string{`Well.`, `"name":"f"`, `"usage`, map[string]string{"anthropic": `"input":{"a":1}`, "openai": `"arguments":"{\"a\":1}"`, "responses": `"arguments":"{\"a\":1}"`, "gemini": `"args":{"a":1}`}[s.name]} {
				if !strings.Contains(h.body, want) {
					t.Errorf("no %s in %s", want, h.body)
				}
			}
			if h := s.hear(t.Context(), client, url, s.ask); h.err == nil {
				t.Errorf("a cut was not seen: %+v", h)
			}
			if h := s.hear(t.Context(), client, url, s.ask); json.Valid([]byte(h.body)) {
				t.Errorf("complete: %s", h.body)
			}
			if h := s.hear(t.Context(), client, url, s.ask); h.status < 500 {
				t.Errorf("status %d", h.status)
			}
		})
	}
}

// lagging is a response of which each frame takes a while to write.
type lagging struct {
	*httptest.ResponseRecorder
	takes time.Duration
}

func (l lagging) Write(frame []byte) (int, error) {
	if len(frame) > 0 {
		time.Sleep(l.takes)
	}
	return l.ResponseRecorder.Write(frame)
}

// TestPaceIsKept: what holds one chunk up does not hold up those after it.
func TestPaceIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const pace, words = 50 * time.Millisecond, 20
		lab := faultlab.New()
		lab.Script("m", faultlab.SlowAnswer(strings.Repeat("word ", words), pace))
		ask := httptest.NewRequest(http.MethodPost, sides[0].path, strings.NewReader(sides[0].ask))
		for name, value := range sides[0].header {
			ask.Header.Set(name, value)
		}
		w := lagging{httptest.NewRecorder(), 10 * time.Millisecond}
		began := time.Now()
		lab.ServeHTTP(w, ask)
		if took := time.Since(began); strings.Count(w.Body.String(), "word") != words || took < words*pace || took > (words+2)*pace {
			t.Errorf("%d words took %v:\n%s", words, took, w.Body)
		}
	})
}

func TestDemo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lab, ln := faultlab.Demo(), faultlab.NewMemListener()
		server, client := lab.Serve(ln), ln.Client()
		for _, call := range []struct {
			side  side
			model string
		}{{sides[0], "fable-1"}, {sides[0], "fable-1"}, {sides[0], "fable-1"}, {sides[0], "fable-1"}, {sides[0], "fable-1"}, {sides[1], "atlas-1"}} {
			call.side.hear(t.Context(), client, server.URL(), strings.Replace(call.side.ask, `"m"`, `"`+call.model+`"`, 1))
		}
		var names []string
		for _, r := range lab.Requests() {
			names = append(names, r.Step)
		}
		if got := strings.Join(names, " "); got != "tool cut 503 529 529 answer" {
			t.Error(got)
		}
		client.CloseIdleConnections()
		server.Close()
	})
}

func TestListenIsForLoopbackOnly(t *testing.T) {
	for _, addr := range []string{":0", "0.0.0.0:0", "192.0.2.1:0", "[::]:0", "nonsense"} {
		if s, err := faultlab.New().Listen(addr); err == nil {
			s.Close()
			t.Errorf("%s was accepted", addr)
		}
	}
}

func TestMemListenerClosed(t *testing.T) {
	ln := faultlab.NewMemListener()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := ln.Dial(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	ln.Close()
	ln.Close()
	if _, err := ln.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
	if _, err := ln.Dial(t.Context()); !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
}
