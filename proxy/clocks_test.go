package proxy_test

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/proxy"
)

// slow is proxy.Runs: one attempt that says something at a time, or nothing, until it is told to stop.
type slow struct{ speaks time.Duration } // 0 = never

func (s slow) Call(ctx context.Context, c proxy.Call) (*failure.Failure, error) {
	c.Begun("r1")
	c.Caller.Began(1, "anthropic/one")
	if s.speaks > 0 {
		time.Sleep(s.speaks)
		for _, d := range []llm.Delta{{Kind: llm.DeltaStart}, {Kind: llm.DeltaText, Text: "It begins"}} {
			if c.Caller.Heard(ctx, 1, d) != nil {
				break
			}
		}
	}
	<-ctx.Done()
	return failure.NewFailure(failure.KindInterrupted, failure.OriginRunner, failure.PhaseMidStream, nil), nil
}

func (slow) Local(string) bool { return false }

// paper is a connection that tells when what was written.
type paper struct {
	began time.Time

	mu     sync.Mutex
	header http.Header
	status int
	at     time.Duration   // of the status
	writes []time.Duration // of the rest
	text   bytes.Buffer
}

func (p *paper) Header() http.Header { return p.header }

func (p *paper) WriteHeader(status int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.status, p.at = status, time.Since(p.began)
}

func (p *paper) Write(data []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.writes = append(p.writes, time.Since(p.began))
	return p.text.Write(data)
}

func (p *paper) Flush() {}

// TestClocksOfACall: a caller of each wire has a status after 10 s, signs of life every 10 s where
// its wire has them, and content or an end after 300 s.
func TestClocksOfACall(t *testing.T) {
	const wait, patience = 10 * time.Second, 300 * time.Second
	contents := `{"contents":[{"role":"user","parts":[{"text":"hello"}]}]}`
	for name, c := range map[string]struct {
		path, body string
		speaks     time.Duration
		alive      string // "" = there is none
		first      time.Duration
		status     int
		end        string
	}{
		"messages":                {"/v1/messages", question, 0, "event: ping", wait, 200, "event: error"},
		"chat":                    {"/v1/chat/completions", `{"model":"one","stream":true,"messages":[{"role":"user","content":"hello"}]}`, 0, ": ", wait, 200, `"error"`},
		"responses":               {"/v1/responses", `{"model":"one","stream":true,"input":"hello"}`, 0, ": ", wait, 200, "response.failed"},
		"gemini, whose has none":  {"/v1beta/models/one:streamGenerateContent?alt=sse", contents, 0, "", patience, 504, `"error"`},
		"messages, in one":        {"/v1/messages", strings.Replace(question, `"stream":true,`, "", 1), 0, "", patience, 504, `"error"`},
		"messages, with content":  {"/v1/messages", question, 4 * time.Second, "event: ping", 4 * time.Second, 200, ""},
		"messages, with content2": {"/v1/messages", question, 14 * time.Second, "event: ping", wait, 200, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, err := proxy.New(proxy.Config{
					Runs: slow{c.speaks}, Routes: []proxy.Route{fallback}, Token: func([32]byte) (bool, error) { return true, nil },
				})
				if err != nil {
					t.Fatal(err)
				}
				ctx, gone := context.WithCancel(t.Context())
				defer gone()
				r := httptest.NewRequestWithContext(ctx, http.MethodPost, c.path, strings.NewReader(c.body))
				r.Host = "localhost"
				r.Header.Set("X-Api-Key", token)
				w := &paper{began: time.Now(), header: http.Header{}}
				over := make(chan time.Duration, 1)
				go func() {
					p.ServeHTTP(w, r)
					over <- time.Since(w.began)
				}()
				if c.end == "" { // it goes on as long as somebody is there
					time.Sleep(patience + time.Minute)
					gone()
				}
				took := <-over
				synctest.Wait()
				if w.status != c.status || w.at != c.first {
					t.Errorf("%d after %s, and not %d after %s", w.status, w.at, c.status, c.first)
				}
				if c.end != "" && (took != patience || !strings.Contains(w.text.String(), c.end)) {
					t.Errorf("it ended after %s: %s", took, w.text.String())
				}
				last := time.Duration(0)
				for _, at := range w.writes {
					if at-last >= 2*wait && c.alive != "" {
						t.Errorf("silence from %s to %s", last, at)
					}
					last = at
				}
				if pings := strings.Count(w.text.String(), c.alive); c.alive != "" && (pings < 20 || pings > 40) {
					t.Errorf("%d signs of life", pings)
				}
				if c.alive == "" && len(w.writes) != 1 {
					t.Errorf("%d writes", len(w.writes))
				}
			})
		})
	}
}
