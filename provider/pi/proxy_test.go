package pi

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/provider/anthropic"
	"github.com/mulligan-run/mulligan/wire"
)

func anthropicOnly(path string) wire.Decoder {
	if strings.HasSuffix(path, "/messages") {
		return anthropic.NewDecoder()
	}
	return nil
}

// through is a proxy in front of a provider that does what do says.
func through(t *testing.T, do http.HandlerFunc) (x *proxy, w *requestObserver, url string) {
	t.Helper()
	provider := httptest.NewServer(do)
	t.Cleanup(provider.Close)
	x, err := newProxy(anthropicOnly, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(x.close)
	w, err = x.admit(map[string]upstream{"fa": {base: provider.URL + "/base", own: true}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	w.asks("pi/fa/m")
	return x, w, "http://" + x.address + w.routes[0].mount
}

func send(t *testing.T, method, url string, change ...func(*http.Request)) (status int, body io.ReadCloser, err error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(`{"model":"m"}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Api-Key", "key-of-the-person")
	for _, c := range change {
		c(r)
	}
	response, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
	if err != nil {
		return 0, nil, err
	}
	t.Cleanup(func() { _ = response.Body.Close() })
	return response.StatusCode, response.Body, nil
}

// Only a Pi that runs, by its secret, to its own providers.
func TestPi08ProxyRefuses(t *testing.T) {
	asked := false
	x, w, url := through(t, func(http.ResponseWriter, *http.Request) { asked = true })
	outside := "http://" + x.address
	for name, c := range map[string]struct {
		method, url string
		change      func(*http.Request)
		want        int
	}{
		"without a secret":  {"POST", outside + "/v1/messages", nil, 404},
		"another secret":    {"POST", strings.Replace(url, w.secret, strings.Repeat("A", len(w.secret)), 1) + "/v1/messages", nil, 404},
		"another provider":  {"POST", strings.Replace(url, "/fa/", "/fb/", 1) + "/v1/messages", nil, 404},
		"another host":      {"POST", outside + "/" + w.secret + "/fa/127.0.0.2:1/base/v1/messages", nil, 404},
		"beside the base":   {"POST", url + "more/v1/messages", nil, 404},
		"above the base":    {"POST", url + "/../v1/messages", nil, 404},
		"above, disguised":  {"POST", url + "/%2e%2e/v1/messages", nil, 404},
		"above, in one":     {"POST", url + "/a%2f..%2f..%2fv1/messages", nil, 404},
		"a foreign host":    {"POST", url + "/v1/messages", func(r *http.Request) { r.Host = "evil.example" }, 421},
		"a name for us":     {"POST", url + "/v1/messages", func(r *http.Request) { r.Host = strings.Replace(x.address, "127.0.0.1", "localhost", 1) }, 421},
		"another method":    {"DELETE", url + "/v1/messages", nil, 405},
		"another protocol":  {"GET", url + "/v1/responses", func(r *http.Request) { r.Header.Set("Connection", "Upgrade"); r.Header.Set("Upgrade", "websocket") }, 501},
		"too large headers": {"POST", url + "/v1/messages", func(r *http.Request) { r.Header.Set("X-Large", strings.Repeat("x", 2*maxRequestHeader)) }, 431},
	} {
		status, _, err := send(t, c.method, c.url, func(r *http.Request) {
			if c.change != nil {
				c.change(r)
			}
		})
		if err != nil || status != c.want {
			t.Errorf("%s: %d, %v", name, status, err)
		}
	}
	w.end()
	if status, _, err := send(t, "POST", url+"/v1/messages"); err != nil || status != 404 {
		t.Errorf("of a Pi that has ended: %d, %v", status, err)
	}
	if asked || len(w.take()) > 0 {
		t.Error("the provider was asked")
	}
}

// A request arrives as it was sent, with the key and without what belongs to one connection;
// an answer is passed on as it comes, and Pi is told at once that it begins.
func TestProxyPasses(t *testing.T) {
	got, more := make(chan *http.Request, 1), make(chan struct{})
	_, w, url := through(t, func(out http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		got <- r
		out.Header().Set("Content-Type", "text/event-stream")
		out.Header().Set("Request-Id", "req-1")
		_, _ = io.WriteString(out, ": a comment\n\n")
		_ = http.NewResponseController(out).Flush()
		_, _ = io.WriteString(out, "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{}}}\n\n")
		_ = http.NewResponseController(out).Flush()
		<-more
	})
	defer close(more)
	told := make(chan event, 8)
	w.tell = func(e event) { told <- e }
	_, answer, err := send(t, "POST", url+"/v1/messages?beta=true", func(r *http.Request) {
		r.Header.Set("Connection", "X-Hop")
		r.Header.Set("X-Hop", "1")
		r.Header.Set("Accept-Encoding", "zstd")
		r.Header.Set("X-Forwarded-For", "1.2.3.4")
	})
	if err != nil {
		t.Fatal(err)
	}
	r := <-got
	body, _ := io.ReadAll(r.Body)
	if r.URL.String() != "/base/v1/messages?beta=true" || r.Header.Get("X-Api-Key") != "key-of-the-person" || string(body) != `{"model":"m"}` {
		t.Errorf("%s, %v, %s", r.URL, r.Header, body)
	}
	for _, name := range []string{"X-Hop", "X-Forwarded-For"} {
		if r.Header.Get(name) != "" {
			t.Errorf("%s is passed on", name)
		}
	}
	if e := r.Header.Get("Accept-Encoding"); e != "gzip" || !strings.Contains(w.routes[0].mount, r.Host) {
		t.Errorf("encoding %s, host %s", e, r.Host)
	}
	piece := make([]byte, 200)
	for read := ""; !strings.Contains(read, "message_start"); {
		n, err := answer.Read(piece)
		if read += string(piece[:n]); err != nil {
			t.Fatalf("%q, %v", read, err)
		}
	}
	if e := <-told; e.kind != answers || e.text != "req-1" || len(told) > 0 {
		t.Errorf("%+v, and %d more", e, len(told))
	}
}

// What the provider does wrong is seen, and Pi gets a connection that breaks where it would
// take a piece for the whole, or follow to another host.
func TestPi09ProxySees(t *testing.T) {
	const start = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{}}}\n\n"
	stream := func(w http.ResponseWriter, text string) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, text)
	}
	for name, c := range map[string]struct {
		do     http.HandlerFunc
		breaks bool
		want   failure.Kind // "" = nothing is wrong
		status int
		after  failure.Millis
	}{
		"whole": {func(w http.ResponseWriter, _ *http.Request) {
			stream(w, start+"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n")
		}, false, "", 0, 0},
		"limited": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Retry-After", "7")
			http.Error(w, `{"type":"error","error":{"type":"rate_limit_error","message":"slow down, `+r.Header.Get("X-Api-Key")+`"}}`, http.StatusTooManyRequests)
		}, false, failure.KindRateLimit, 429, 7000},
		"cut":   {func(w http.ResponseWriter, _ *http.Request) { stream(w, start) }, true, failure.KindStreamInterrupted, 200, 0},
		"empty": {func(w http.ResponseWriter, _ *http.Request) { stream(w, "") }, true, failure.KindEmptyResponse, 200, 0},
		"broken": {func(w http.ResponseWriter, _ *http.Request) {
			stream(w, start)
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}, true, failure.KindStreamInterrupted, 200, 0},
		"redirected": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusTemporaryRedirect)
		}, true, failure.KindMisconfigured, 307, 0},
		"refused": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, true, failure.KindUnreachable, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			_, w, url := through(t, c.do)
			_, answer, err := send(t, "POST", url+"/v1/messages")
			if err == nil {
				_, err = io.ReadAll(answer)
			}
			if (err != nil) != c.breaks {
				t.Errorf("Pi gets %v", err)
			}
			seen := w.take()
			if len(seen) != 1 {
				t.Fatalf("%d requests were seen", len(seen))
			}
			f, _ := seen.failure(0)
			switch {
			case c.want == "" && f == nil:
			case f == nil || f.Kind != c.want || f.HTTPStatus != c.status || f.RetryAfter != c.after || f.Provider != "fa" || f.Model != "pi/fa/m":
				t.Errorf("%+v", f)
			case strings.Contains(f.Error()+f.Detail+f.Unwrap().Error(), "key-of-the-person"):
				t.Errorf("the key is seen in %+v", f)
			}
		})
	}
}

// A request that Pi gives up is no failure of the provider's.
func TestProxyGivenUp(t *testing.T) {
	begun := make(chan struct{})
	_, w, url := through(t, func(out http.ResponseWriter, r *http.Request) {
		out.Header().Set("Content-Type", "text/event-stream")
		_ = http.NewResponseController(out).Flush()
		close(begun)
		<-r.Context().Done()
	})
	_, answer, err := send(t, "POST", url+"/v1/messages")
	if err != nil {
		t.Fatal(err)
	}
	<-begun
	_ = answer.Close()
	if f, _ := w.take().failure(0); f != nil {
		t.Errorf("%+v", f)
	}
}

// Of several requests the last counts that went wrong as Pi says.
func TestProxyMatches(t *testing.T) {
	answers := []int{500, 429, 503, 429}
	_, w, url := through(t, func(out http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			http.Error(out, "no list", http.StatusTooManyRequests)
			return
		}
		out.Header().Set("Request-Id", string(rune('a'+len(answers))))
		http.Error(out, "no", answers[0])
		answers = answers[1:]
	})
	for range 4 {
		_, answer, err := send(t, "POST", url+"/v1/messages")
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.ReadAll(answer)
	}
	if status, _, err := send(t, "GET", url+"/v1/models"); err != nil || status != 429 {
		t.Errorf("%d, %v", status, err)
	}
	seen := w.take()
	for status, want := range map[int]string{0: "b", 429: "b", 503: "c", 500: "e"} {
		if f, count := seen.failure(status); f == nil || f.RequestID != want || count != 4 {
			t.Errorf("%d: %+v, %d", status, f, count)
		}
	}
	if f, _ := seen.failure(401); f != nil {
		t.Errorf("a failure that nobody speaks of: %+v", f)
	}
	if len(w.take()) > 0 {
		t.Error("the requests of one message are those of the next as well")
	}
}

// A whole Pi: what its provider says reaches the failure, the answer is told to begin when
// the provider begins it, and neither key nor secret are seen anywhere.
func TestPi09Observed(t *testing.T) {
	lab := faultlab.New()
	lab.Script("m", faultlab.RateLimited(9*time.Second), faultlab.RateLimited(7*time.Second), faultlab.Answer("Fine."))
	server, err := lab.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer lab.Close()
	defer server.Close()
	var logged synchronized
	const key = "key-of-the-person"
	script := modern + known + prompted + `> get_state
` + failed("429 too many, said "+key) + done + quietly + known + prompted + "> get_state\n" + begun +
		`< {"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"Fine."}],"usage":{"input":1},"stopReason":"stop"}}` + "\n" + done + quietly
	e := fake(t, script, func(c *Config) {
		c.Observe, c.Decoders, c.ConfigDir = true, anthropicOnly, t.TempDir()
		c.Logger = slog.New(slog.NewTextHandler(&logged, nil))
		models := `{"providers":{"fa":{"baseUrl":"` + server.URL() + `/","apiKey":"` + key + `"}}}`
		if err := os.WriteFile(filepath.Join(c.ConfigDir, "models.json"), []byte(models), 0o600); err != nil {
			t.Fatal(err)
		}
	})
	secret := ""
	asks := func(times int) { // as Pi would in the middle of its turn
		e.mu.Lock()
		p := e.sessions["s"].process()
		e.mu.Unlock()
		secret = p.seen.secret
		mount := p.seen.routes[slices.IndexFunc(p.seen.routes, func(r route) bool { return r.provider == "fa" })].mount
		for range times {
			status, answer, err := send(t, http.MethodPost, "http://"+e.proxy.address+mount+"/v1/messages", func(r *http.Request) {
				const body = `{"model":"m","max_tokens":9,"stream":true,"messages":[{"role":"user","content":"hi"}]}`
				r.Body, r.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
				r.Header.Set("Anthropic-Version", "2023-06-01")
			})
			if err != nil {
				t.Fatalf("%d, %v", status, err)
			}
			_, _ = io.ReadAll(answer)
		}
		_ = p.send(map[string]any{"id": "later", "type": "get_state"}) // it has its answer
	}
	turn := func(times int) (told []llm.Delta, failed *failure.Failure) {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		for d, err := range e.Stream(ctx, ask()) {
			if err != nil {
				failed, _ = failure.AsFailure(err)
			}
			if told = append(told, d); len(told) == 1 {
				asks(times)
			}
		}
		return told, failed
	}
	_, f := turn(2)
	if f == nil || f.Kind != failure.KindRateLimit || f.HTTPStatus != 429 || f.RetryAfter != 7000 || f.RequestID == "" || f.Model != "pi/fa/m" || f.Provider != "fa" {
		t.Fatalf("%+v", f)
	}
	if !strings.Contains(f.Detail, "asked 2 times") {
		t.Errorf("nothing is said of the library's own retry: %s", f.Detail)
	}
	for _, text := range []string{f.Error(), f.Detail, f.Unwrap().Error(), logged.String()} {
		if strings.Contains(text, key) || strings.Contains(text, secret) {
			t.Errorf("a secret is seen in %s", text)
		}
	}
	told, f := turn(1)
	if f != nil {
		t.Fatal(f)
	}
	started := slices.IndexFunc(told, func(d llm.Delta) bool { return d.Kind == llm.DeltaStart })
	if started < 0 || told[started].RequestID == "" {
		t.Errorf("%+v", told)
	}
}

// synchronized is a buffer for several goroutines.
type synchronized struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *synchronized) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

// Where Pi asks is read from the person's own list; what cannot be read observes nothing.
func TestUpstreams(t *testing.T) {
	f := folder{path: t.TempDir()}
	if found, err := f.upstreams(); err != nil || !maps.Equal(found, mapped(builtIn)) {
		t.Errorf("%v, %v", found, err)
	}
	set := func(content string) {
		if err := os.WriteFile(filepath.Join(f.path, modelsFile), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	set(`{"providers":{"anthropic":{"baseUrl":"https://gateway.example/a/"},"mine":{"baseUrl":"http://10.0.0.1/v1"},"keyed":{"apiKey":"k"}}}`)
	found, err := f.upstreams()
	if err != nil || found["anthropic"] != (upstream{"https://gateway.example/a", true}) || found["mine"] != (upstream{"http://10.0.0.1/v1", true}) || found["keyed"] != (upstream{}) || found["openai"].own {
		t.Errorf("%v, %v", found, err)
	}
	set(`{"providers": /* mine */ {}}`)
	if found, err := f.upstreams(); err == nil || found != nil || !strings.Contains(err.Error(), "comments") {
		t.Errorf("%v, %v", found, err)
	}
	x, err := newProxy(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer x.close()
	w, err := x.admit(map[string]upstream{"plain": {base: "http://far.example"}, "good": {base: "https://far.example"}, "cloud": {base: "http://169.254.169.254", own: true}}, nil)
	if err == nil || !strings.Contains(err.Error(), "plain") || !strings.Contains(err.Error(), "cloud") || !w.covers("good") || w.covers("plain") || w.covers("cloud") {
		t.Errorf("%v, %+v", err, w.routes)
	}
}

func mapped(bases map[string]string) map[string]upstream {
	all := map[string]upstream{}
	for name, base := range bases {
		all[name] = upstream{base: base}
	}
	return all
}

// Whoever wants Pi observed is told, once, where it is not.
func TestUnseen(t *testing.T) {
	for name, models := range map[string]string{
		"nobody knows the provider": `{}`,
		"not to be read":            `{"providers": /* mine */ {"fa": {"baseUrl": "http://127.0.0.1:1"}}}`,
		"asked past the proxy":      `{"providers":{"fa":{"baseUrl":"http://127.0.0.1:1"}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			var logged synchronized
			turn := known + prompted + begun + `< {"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"Fine."}],"usage":{"input":1},"stopReason":"stop"}}` + "\n" + done + quietly
			e := fake(t, modern+turn+turn, func(c *Config) {
				c.Observe, c.ConfigDir, c.Logger = true, t.TempDir(), slog.New(slog.NewTextHandler(&logged, nil))
				if err := os.WriteFile(filepath.Join(c.ConfigDir, "models.json"), []byte(models), 0o600); err != nil {
					t.Fatal(err)
				}
			})
			for range 2 {
				if a, f := hear(t.Context(), t, e, ask()); f != nil || a.Message("pi/fa/m").Text() != "Fine." {
					t.Fatalf("%+v, %+v", a, f)
				}
			}
			if said := logged.String(); strings.Count(said, "provider fa are not observed") != 1 {
				t.Errorf("%q", said)
			}
		})
	}
}
