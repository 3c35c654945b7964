package proxy_test

import (
	"context"
	"crypto/sha256"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/gateway"
	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/provider"
	"github.com/mulligan-run/mulligan/proxy"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
)

// world is a proxy before the fault server, which plays both providers.
type world struct {
	*testing.T
	lab   *faultlab.Lab
	at    string // the proxy's URL
	token string
	tally *proxy.Tally

	askFor    time.Duration
	suggested chan suggestion
	runner    *runner.Runner

	mu    sync.Mutex
	asked []faultlab.Request
	other http.HandlerFunc // answers what is no model's call
	heads []*http.Request  // of all that the providers got
}

func newWorld(t *testing.T, routes ...proxy.Route) *world {
	t.Helper()
	return newWorldWith(t, slog.New(slog.DiscardHandler), nil, routes...)
}

// newWorldWith is a world whose proxy and runner log there, and whose runner has more options.
func newWorldWith(t *testing.T, log *slog.Logger, options []runner.Option, routes ...proxy.Route) *world {
	t.Helper()
	return (&world{T: t, token: token}).build(log, options, routes...)
}

func (w *world) build(log *slog.Logger, options []runner.Option, routes ...proxy.Route) *world {
	t := w.T
	t.Helper()
	w.suggested = make(chan suggestion, 10)
	w.lab = faultlab.New(faultlab.WithPace(0), faultlab.WithWatch(func(r faultlab.Request) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.asked = append(w.asked, r)
	}))
	upstream := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		w.heads = append(w.heads, &http.Request{Method: r.Method, URL: &url.URL{Path: r.URL.Path, RawQuery: r.URL.RawQuery}, Header: r.Header.Clone()})
		w.mu.Unlock()
		r.URL.Path = strings.TrimPrefix(r.URL.Path, "/here")
		if other := w.otherwise(r); other != nil {
			other(rw, r)
			return
		}
		w.lab.ServeHTTP(rw, r)
	}))
	t.Cleanup(upstream.Close)
	set, err := provider.New([]provider.Entry{
		{Name: "anthropic", Type: "anthropic", BaseURL: upstream.URL, Key: "key-of-the-provider"},
		{Name: "openai", Type: "openai", BaseURL: upstream.URL + "/v1", Key: "key-of-the-provider"},
		{Name: "openai-responses", Type: "openai-responses", BaseURL: upstream.URL + "/v1", Key: "key-of-the-provider"},
		{Name: "gemini", Type: "gemini", BaseURL: upstream.URL, Key: "key-of-the-provider"},
		{Name: "here", Type: "openai", BaseURL: upstream.URL + "/here/v1", Key: "key-of-the-provider"},
	})
	if err != nil {
		t.Fatal(err)
	}
	r := runner.New(append(slices.Clone(options),
		runner.WithModels(set, "anthropic/one"), runner.WithHook("h", hooks.Func(advice)), runner.WithLogger(log),
		runner.WithPolicy(func(p *recovery.Policy) { p.Timeouts.FirstEvent, p.Timeouts.Idle = 3000, 3000 }), // a busy machine is not a silent provider
	)...)
	p, err := proxy.New(proxy.Config{
		AskFor: w.askFor, AskMost: 2, Asks: func(run string, s recovery.Suggestion) { w.suggested <- suggestion{run, s} },
		Answer: func(run string) string { return "http://page.example/#/r/" + run },
		Runs:   calls{r, set}, Routes: routes, Forward: set.Forward, Logger: log,
		Token: func(sum [32]byte) (bool, error) { return sum == sha256.Sum256([]byte(w.token)), nil },
		Wire:  func(entry string) string { return entry },
	})
	if err != nil {
		t.Fatal(err)
	}
	face := httptest.NewUnstartedServer(nil)
	face.Config = gateway.Server(p, log)
	face.Start()
	t.Cleanup(face.Close)
	w.at, w.tally, w.runner = face.URL, p.Tally(), r
	return w
}

// advice tries what may pass once more, and goes to another model then.
func advice(_ context.Context, e hooks.RunError) (recovery.Vote, error) {
	switch {
	case e.Attempt == 0 && e.Failure.Retryable && e.Failure.Timer == "":
		return recovery.Vote{Action: recovery.ActionRetry}, nil
	case len(e.Alternatives) > 0 && e.Failure.Retryable:
		return recovery.Vote{Action: recovery.ActionSwitchModel, NewModel: e.Alternatives[0].Model}, nil
	}
	return recovery.Vote{Action: recovery.ActionFail}, nil
}

// calls is proxy.Runs.
type calls struct {
	runner *runner.Runner
	set    *provider.Set
}

func (c calls) Call(ctx context.Context, call proxy.Call) (*failure.Failure, error) {
	policy := c.runner.Policy()
	policy.Models, policy.AutoRecover, policy.Delivery, policy.Keep = call.Models, call.AutoRecover, call.Delivery, call.Keep
	if call.Suggested != nil {
		policy.SuggestionTTL = failure.InMillis(call.AskFor)
	}
	began := false
	_, err := c.runner.Do(ctx, runner.Request{
		Model: call.Models[0], Policy: &policy, SessionKey: call.SessionKey,
		Call: &runner.Call{Request: call.Request, Asked: call.Asked, Caller: call.Caller, Suggested: call.Suggested, Begun: func(run string) {
			began = true
			call.Begun(run)
		}},
	})
	if !began {
		return nil, err
	}
	if f, ok := failure.AsFailure(err); ok {
		return f, nil
	}
	if err != nil {
		return failure.NewFailure(failure.KindInterrupted, failure.OriginRunner, failure.PhaseMidStream, err), nil
	}
	return nil, nil
}

func (c calls) Local(model string) bool { return strings.HasPrefix(model, "here/") }

// said is the head of an answer.
type said struct {
	StatusCode int
	Header     http.Header
}

// post makes a call, and gives all that comes.
func (w *world) post(path, body string, header ...string) (said, string) {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.at+path, strings.NewReader(body))
	if err != nil {
		w.Fatal(err)
	}
	req.Header.Set("X-Api-Key", w.token)
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(header); i += 2 {
		if req.Header.Set(header[i], header[i+1]); header[i] == "Host" {
			req.Host = header[i+1]
		}
	}
	return w.hears(req)
}

// hears gives all that comes to a request.
func (w *world) hears(req *http.Request) (said, string) {
	w.Helper()
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		w.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		w.Fatal(err)
	}
	return said{resp.StatusCode, resp.Header}, string(text)
}

// answerOther has h answer what is no model's call.
func (w *world) answerOther(h http.HandlerFunc) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.other = h
}

func (w *world) otherwise(r *http.Request) http.HandlerFunc {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch call := r.Method == http.MethodPost; {
	case call && (r.URL.Path == "/v1/messages" || r.URL.Path == "/v1/chat/completions" || r.URL.Path == "/v1/responses"):
		return nil
	case call && strings.HasSuffix(strings.ToLower(r.URL.Path), "generatecontent"):
		return nil
	}
	return w.other
}

// arrived are the heads of all requests that the providers got.
func (w *world) arrived() []*http.Request {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]*http.Request(nil), w.heads...)
}

func (w *world) requests() []faultlab.Request {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]faultlab.Request(nil), w.asked...)
}

const question = `{"model":"one","max_tokens":500,"stream":true,"messages":[{"role":"user","content":"hello"}],"tools":[{"name":"weather","input_schema":{"type":"object"}}]}`

var fallback = proxy.Route{Match: "*", Models: []string{"$provider/$model", "openai/two"}, AutoRecover: true, Keep: recovery.KeepFigures}

// TestI53Scenarios: whatever the first model does, its caller gets one whole answer of the other
// one, on its own wire, and a tool call once and whole.
func TestI53Scenarios(t *testing.T) {
	for name, c := range map[string]struct {
		first   []faultlab.Step
		want    string // in the answer
		most    int    // requests
		without string // in the answer
	}{
		"answers":        {[]faultlab.Step{faultlab.Answer("All is well.")}, "well", 1, ""},
		"429 once":       {[]faultlab.Step{faultlab.RateLimited(0), faultlab.Answer("All is well.")}, "well", 2, ""},
		"500 once":       {[]faultlab.Step{faultlab.Status(500, nil, "{}"), faultlab.Answer("All is well.")}, "well", 2, ""},
		"503 for ever":   {[]faultlab.Step{faultlab.Unavailable()}, "other", 6, ""},
		"429 for ever":   {[]faultlab.Step{faultlab.RateLimited(0)}, "other", 6, ""},
		"reset":          {[]faultlab.Step{faultlab.Refuse()}, "other", 6, ""},
		"silence":        {[]faultlab.Step{faultlab.Hang()}, "other", 3, ""},
		"empty":          {[]faultlab.Step{faultlab.Empty200()}, "other", 4, ""},
		"a page":         {[]faultlab.Step{faultlab.HTML502()}, "other", 6, ""},
		"a tool":         {[]faultlab.Step{faultlab.ToolCall("weather", `{"city":"Oslo"}`)}, "weather", 1, ""},
		"cut, hold":      {[]faultlab.Step{faultlab.CutAfter("It begins")}, "other", 6, "begins"},
		"stall, hold":    {[]faultlab.Step{faultlab.StallAfter("It begins")}, "other", 6, "begins"},
		"bad event,hold": {[]faultlab.Step{faultlab.Malformed("It begins")}, "other", 6, "begins"},
		"no end, hold":   {[]faultlab.Step{faultlab.EndAfter("It begins")}, "other", 6, "begins"},
		"error, hold":    {[]faultlab.Step{faultlab.ErrorEventAfter("It begins")}, "other", 6, "begins"},
	} {
		for _, mode := range []proxy.Mode{proxy.ModeHold, proxy.ModeContinue} {
			if strings.HasSuffix(name, "hold") && mode != proxy.ModeHold {
				continue
			}
			t.Run(name+" "+string(mode), func(t *testing.T) {
				t.Parallel()
				route := fallback
				route.Mode = mode
				w := newWorld(t, route)
				w.lab.Script("one", c.first...)
				w.lab.Script("two", faultlab.Answer("The other one."))
				resp, text := w.post("/v1/messages", question)
				if resp.StatusCode != http.StatusOK || !strings.Contains(text, c.want) || c.without != "" && strings.Contains(text, c.without) {
					t.Errorf("%d %s", resp.StatusCode, text)
				}
				if strings.Count(text, "event: message_start") != 1 || strings.Count(text, "event: message_stop") != 1 || strings.Contains(text, "event: error") {
					t.Errorf("it is not one answer: %s", text)
				}
				if n := len(w.requests()); n > c.most {
					t.Errorf("%d requests", n)
				}
				if resp.Header.Get("X-Mulligan-Run") == "" || resp.Header.Get("X-Mulligan-Attempts") == "" || resp.Header.Get("X-Mulligan-Model") == "" {
					t.Errorf("headers %v", resp.Header)
				}
				if strings.Contains(text, "key-of-the-provider") {
					t.Error("S36: the provider's key is in the answer")
				}
			})
		}
	}
}

// TestGoesOn: after a cut in plain text another model writes the rest, and the caller sees one
// answer of its own wire.
func TestGoesOn(t *testing.T) {
	w := newWorld(t, fallback)
	w.lab.Script("one", faultlab.CutAfter("It begins so"))
	w.lab.Script("two", faultlab.Answer("and ends like this."))
	_, text := w.post("/v1/messages", question)
	for part, times := range map[string]int{"message_start": 2, "message_stop": 2, "begins": 1, "ends": 1, "event: error": 0, "content_block_start": 2} {
		if n := strings.Count(text, part); n != times {
			t.Errorf("%q is there %d times, and not %d: %s", part, n, times, text)
		}
	}
}

// TestOneID: also where another model goes on, each part of the answer has the id that it began with.
func TestOneID(t *testing.T) {
	for name, c := range map[string]struct {
		path, body, end string
		ids             map[string]int // how many there are, by their key
	}{
		"chat":      {"/v1/chat/completions", `{"model":"one","stream":true,"messages":[{"role":"user","content":"hello"}]}`, "[DONE]", map[string]int{"id": 1}},
		"responses": {"/v1/responses", `{"model":"one","stream":true,"input":"hello"}`, "response.completed", map[string]int{"id": 2, "item_id": 1}}, // of the response, and of its item
		"gemini":    {"/v1beta/models/one:streamGenerateContent?alt=sse", `{"contents":[{"role":"user","parts":[{"text":"hello"}]}]}`, "STOP", map[string]int{"responseId": 1}},
	} {
		w := newWorld(t, fallback)
		w.lab.Script("one", faultlab.CutAfter("It begins so"))
		w.lab.Script("two", faultlab.Answer("and ends like this."))
		_, text := w.post(c.path, c.body)
		if !strings.Contains(text, "ends") || !strings.Contains(text, c.end) {
			t.Errorf("%s: %s", name, text)
		}
		for key, want := range c.ids {
			ids := map[string]bool{}
			for _, id := range regexp.MustCompile(`"`+key+`":"[^"]*"`).FindAllString(text, -1) {
				ids[id] = true
			}
			if len(ids) != want {
				t.Errorf("%s has %d and not %d of %s: %v in %s", name, len(ids), want, key, ids, text)
			}
		}
	}
}

// TestWires: each wire's caller gets the answer of a provider of another wire as one of its own,
// streamed and whole.
func TestWires(t *testing.T) {
	for name, c := range map[string]struct{ path, body, want, end string }{
		"messages, whole":  {"/v1/messages", `{"model":"one","max_tokens":9,"messages":[{"role":"user","content":"hello"}]}`, `"type":"message"`, "end_turn"},
		"messages":         {"/v1/messages", `{"model":"one","max_tokens":9,"stream":true,"messages":[{"role":"user","content":"hello"}]}`, "message_start", "message_stop"},
		"messages, no /v1": {"/messages", `{"model":"one","max_tokens":9,"messages":[{"role":"user","content":"hello"}]}`, `"type":"message"`, "end_turn"},
		"chat, whole":      {"/v1/chat/completions", `{"model":"one","messages":[{"role":"user","content":"hello"}]}`, `"chat.completion"`, `"finish_reason":"stop"`},
		"chat":             {"/v1/chat/completions", `{"model":"one","stream":true,"messages":[{"role":"user","content":"hello"}]}`, `"chat.completion.chunk"`, "[DONE]"},
		"responses, whole": {"/v1/responses", `{"model":"one","input":"hello"}`, `"object":"response"`, `"status":"completed"`},
		"responses":        {"/v1/responses", `{"model":"one","stream":true,"input":"hello"}`, "response.created", "response.completed"},
		"gemini, whole":    {"/v1beta/models/one:generateContent", `{"contents":[{"role":"user","parts":[{"text":"hello"}]}]}`, `"candidates"`, `"STOP"`},
		"gemini":           {"/v1beta/models/one:streamGenerateContent?alt=sse", `{"contents":[{"role":"user","parts":[{"text":"hello"}]}]}`, "data: ", `"STOP"`},
		"gemini, array":    {"/v1beta/models/one:streamGenerateContent", `{"contents":[{"role":"user","parts":[{"text":"hello"}]}]}`, "[", `"STOP"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, models := range [][]string{{"$provider/$model"}, {"$provider/gone", "anthropic/two"}, {"$provider/gone", "openai/two"}} {
				route := fallback
				route.Models = models
				w := newWorld(t, route)
				w.lab.Script("gone", faultlab.Unavailable())
				w.lab.Script("one", faultlab.Answer("All is well."))
				w.lab.Script("two", faultlab.Answer("All is well."))
				resp, text := w.post(c.path, c.body)
				if resp.StatusCode != http.StatusOK || !strings.Contains(text, "well") || !strings.Contains(text, c.want) || !strings.Contains(text, c.end) {
					t.Errorf("%v: %d %s", models, resp.StatusCode, text)
				}
			}
		})
	}
}

// TestI53AnswerThatBreaksOff: what was seen of an answer stays, and in mode error it ends with an
// error of the caller's wire, and with nothing that could pass for its end.
func TestI53AnswerThatBreaksOff(t *testing.T) {
	for _, path := range []string{"/v1/messages", "/v1/chat/completions"} {
		route := fallback
		route.Mode = proxy.ModeError
		w := newWorld(t, route)
		w.lab.Script("one", faultlab.CutAfter("It begins so"))
		w.lab.Script("two", faultlab.Answer("The other one."))
		body := question
		if path != "/v1/messages" {
			body = `{"model":"one","stream":true,"messages":[{"role":"user","content":"hello"}]}`
		}
		_, text := w.post(path, body)
		if !strings.Contains(text, "begins") || !strings.Contains(text, `"error"`) || strings.Contains(text, "other") {
			t.Errorf("%s: %s", path, text)
		}
		if strings.Contains(text, "message_stop") || strings.Contains(text, "[DONE]") || strings.Contains(text, `"finish_reason":"stop"`) {
			t.Errorf("%s: it passes for a whole answer: %s", path, text)
		}
		if w.tally.String() != "0 calls rescued; 1 lost" {
			t.Error(w.tally)
		}
	}
}

// TestModeOfACall: a call may know better than its route.
func TestModeOfACall(t *testing.T) {
	route := fallback
	route.Mode = proxy.ModeError
	w := newWorld(t, route)
	w.lab.Script("one", faultlab.CutAfter("It begins so"))
	w.lab.Script("two", faultlab.Answer("The other one."))
	resp, text := w.post("/v1/messages", question, "X-Mulligan-Stream", "hold")
	if resp.StatusCode != http.StatusOK || strings.Contains(text, "begins") || !strings.Contains(text, "message_stop") {
		t.Errorf("%d %s", resp.StatusCode, text)
	}
	for _, asked := range w.requests() {
		if asked.Header.Get("X-Mulligan-Stream") != "" {
			t.Error("a provider is told what was said to the proxy")
		}
	}
	if resp, text := w.post("/v1/messages", question, "X-Mulligan-Stream", "sometimes"); resp.StatusCode != http.StatusBadRequest || !strings.Contains(text, "continue, hold, error") {
		t.Errorf("%d %s", resp.StatusCode, text)
	}
}

// TestTheCallersMistake: what a caller did wrong it hears from the provider itself, once.
func TestTheCallersMistake(t *testing.T) {
	w := newWorld(t, fallback)
	own := `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}`
	w.lab.Script("one", faultlab.Status(400, map[string]string{"Content-Type": "application/json", "X-Ratelimit-Left": "7"}, own))
	resp, text := w.post("/v1/messages", question)
	if resp.StatusCode != http.StatusBadRequest || text != own || resp.Header.Get("X-Ratelimit-Left") != "7" || resp.Header.Get("X-Should-Retry") != "false" {
		t.Errorf("%d %v %s", resp.StatusCode, resp.Header, text)
	}
	if n := len(w.requests()); n != 1 {
		t.Errorf("%d requests", n)
	}
}

// TestOwnWords: without anybody else to ask, the caller hears what the provider itself said.
func TestOwnWords(t *testing.T) {
	alone := fallback
	alone.Models = []string{"$provider/$model"}
	for status, own := range map[int]string{
		401: `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}`,
		402: `{"type":"error","error":{"type":"billing_error","message":"Your credit balance is too low to access the API."}}`,
		503: `{"type":"error","error":{"type":"api_error","message":"We are down until noon."}}`,
	} {
		w := newWorld(t, alone)
		w.lab.Script("one", faultlab.Status(status, map[string]string{"Content-Type": "application/json"}, own))
		resp, text := w.post("/v1/messages", question)
		_, said, _ := strings.Cut(own, `"message":"`)
		if said = strings.TrimSuffix(said, `"}}`); resp.StatusCode != status || !strings.Contains(text, said) {
			t.Errorf("%d: %d %s", status, resp.StatusCode, text)
		}
	}
}

// TestNoWords: what is found out here about an answer is not put into the provider's mouth.
func TestNoWords(t *testing.T) {
	alone := fallback
	alone.Models = []string{"$provider/$model"}
	for name, step := range map[string]faultlab.Step{
		"an empty answer": faultlab.Empty200(),
		"no answer":       faultlab.Refuse(),
		"a bare status":   faultlab.Status(http.StatusServiceUnavailable, map[string]string{"Content-Length": "0"}, " "),
		"nothing in it":   faultlab.Status(http.StatusServiceUnavailable, nil, "{}"),
	} {
		w := newWorld(t, alone)
		w.lab.Script("one", step)
		if resp, text := w.post("/v1/messages", question); resp.StatusCode < 500 || strings.Contains(text, "The provider said") {
			t.Errorf("%s: %d %s", name, resp.StatusCode, text)
		}
	}
}

// TestNoModel: a call that names no model is refused, unless its route needs none.
func TestNoModel(t *testing.T) {
	for _, body := range []string{`{"model":"","max_tokens":9,"messages":[{"role":"user","content":"hello"}]}`, `{"max_tokens":9,"messages":[{"role":"user","content":"hello"}]}`} {
		w := newWorld(t, fallback)
		if resp, text := w.post("/v1/messages", body); resp.StatusCode != http.StatusBadRequest || !strings.Contains(text, "names no model") || len(w.requests()) > 0 {
			t.Errorf("%d %s", resp.StatusCode, text)
		}
		fixed := fallback
		fixed.Models = []string{"openai/two"}
		w = newWorld(t, fixed)
		w.lab.Script("two", faultlab.Answer("All is well."))
		if resp, text := w.post("/v1/messages", body); resp.StatusCode != http.StatusOK {
			t.Errorf("%d %s", resp.StatusCode, text)
		}
	}
}

// TestWhole: an answer that is not streamed is one document, of whoever answers.
func TestWhole(t *testing.T) {
	w := newWorld(t, fallback)
	w.lab.Script("one", faultlab.Unavailable())
	w.lab.Script("two", faultlab.Answer("The other one."))
	resp, text := w.post("/v1/messages", strings.Replace(question, `"stream":true,`, "", 1))
	if resp.StatusCode != http.StatusOK || !strings.Contains(text, "The other one.") || !strings.Contains(text, `"type":"message"`) || !strings.Contains(text, `"model":"two"`) {
		t.Errorf("%d %s", resp.StatusCode, text)
	}
	if resp.Header.Get("X-Mulligan-Model") != "openai/two" || w.tally.String() != "1 call rescued: 1 switched to two; 0 lost" {
		t.Errorf("%v %s", resp.Header, w.tally)
	}
}

// TestWhoMayCall is S04, S05, S36 and S38.
func TestWhoMayCall(t *testing.T) {
	w := newWorld(t, fallback)
	w.lab.Script("one", faultlab.Answer("All is well."))
	for name, c := range map[string]struct {
		header []string
		want   int
	}{
		"the token":             {nil, 200},
		"another key":           {[]string{"X-Api-Key", "sk-ant-of-the-caller"}, 401},
		"no key":                {[]string{"X-Api-Key", ""}, 401},
		"another name":          {[]string{"Host", "evil.example"}, 421},
		"a page":                {[]string{"Origin", "https://evil.example"}, 403},
		"a page without a name": {[]string{"Origin", "null"}, 403},
		"a browser":             {[]string{"Sec-Fetch-Site", "cross-site"}, 403},
		"compressed":            {[]string{"Content-Encoding", "gzip"}, 415},
	} {
		before := len(w.requests())
		resp, text := w.post("/v1/messages", question, c.header...)
		if asked := len(w.requests()) - before; resp.StatusCode != c.want || (asked > 0) != (c.want == 200) {
			t.Errorf("%s: %d after %d requests: %s", name, resp.StatusCode, asked, text)
		}
	}
	if resp, _ := w.post("/v1/elsewhere", question); resp.StatusCode != http.StatusNotFound {
		t.Errorf("%d", resp.StatusCode)
	}
	local := fallback
	local.LocalOnly = true
	w = newWorld(t, local)
	if resp, text := w.post("/v1/messages", question); resp.StatusCode != http.StatusForbidden || len(w.requests()) > 0 {
		t.Errorf("S38: %d after %d requests: %s", resp.StatusCode, len(w.requests()), text)
	}
}
