package proxy_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// stampOf is what the call of that number asks for and is answered with, in every word.
func stampOf(n int) string { return fmt.Sprintf("caller-%04d", n) }

var stamps = regexp.MustCompile(`caller-\d{4}`)

// echoing is a provider on the wire of Chat Completions that says the caller's own stamp, word by
// word, and counts who is with it. It may be overloaded when it is asked first.
type echoing struct {
	words   int
	mu      sync.Mutex
	here    int
	first   map[string]bool // who is told that it is overloaded, once; nil = nobody
	missing map[string]bool // who has not come yet
	all     chan struct{}   // closed when nobody is missing
}

// overloaded reports whether a caller is told so. Nobody is told before all have come: whoever
// comes later is not sent for the 30 s of a cooldown.
func (e *echoing) overloaded(ctx context.Context, stamp string) bool {
	e.mu.Lock()
	told, all := e.first[stamp], e.all
	delete(e.first, stamp)
	if delete(e.missing, stamp); len(e.missing) == 0 && e.missing != nil {
		e.missing = nil
		close(all)
	}
	e.mu.Unlock()
	if told {
		select {
		case <-all:
		case <-ctx.Done():
		}
	}
	return told
}

func (e *echoing) count(n int) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.here += n
	return e.here
}

func (e *echoing) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	own := stamps.FindString(string(body))
	e.count(1)
	defer e.count(-1)
	if e.overloaded(r.Context(), own) {
		w.WriteHeader(529)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Request-Id", own)
	for range e.words {
		fmt.Fprintf(w, "data: {\"id\":%q,\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{\"content\":%q},\"finish_reason\":null}]}\n\n", own, own+" ")
		if http.NewResponseController(w).Flush() != nil || r.Context().Err() != nil {
			return
		}
		time.Sleep(time.Millisecond)
	}
	fmt.Fprintf(w, "data: {\"id\":%q,\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n", own)
}

// TestACrowd: of callers that stream at once each gets its own answer, whole and nobody else's, also
// where half of them find their provider overloaded in the same moment.
// Those that go away stop their provider, those that read nothing hold up nobody, and at the end all
// is as it was before.
func TestACrowd(t *testing.T) {
	const callers, words = 100, 20
	e := &echoing{words: words}
	server := httptest.NewServer(e)
	t.Cleanup(server.Close)
	at := before(t, server.URL, "$provider/$model")
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: callers}}
	ask := func(ctx context.Context, n int) (*http.Response, error) {
		body := fmt.Sprintf(`{"model":"m","stream":true,"messages":[{"role":"user","content":%q}]}`, stampOf(n))
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, at+"/v1/chat/completions", strings.NewReader(body))
		if err != nil {
			return nil, err
		}
		req.Header.Set("Authorization", "Bearer "+token)
		return client.Do(req)
	}
	all := func(callers int, vanish bool) {
		var crowd sync.WaitGroup
		for n := range callers {
			crowd.Go(func() {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				resp, err := ask(ctx, n)
				if err != nil {
					t.Error(err)
					return
				}
				defer resp.Body.Close()
				if vanish && n%2 == 0 {
					_, _ = io.ReadFull(resp.Body, make([]byte, 40))
					cancel()
					return
				}
				heard, err := io.ReadAll(resp.Body)
				said := stamps.FindAllString(string(heard), -1)
				if err != nil || !bytes.Contains(heard, []byte("[DONE]")) || len(said) != 2*words+1 || resp.Header.Get("Request-Id") != stampOf(n) {
					t.Errorf("%v, %d stamps: %s", err, len(said), heard)
				}
				for _, stamp := range said {
					if stamp != stampOf(n) {
						t.Fatalf("I53: %s hears what %s was told", stampOf(n), stamp)
					}
				}
			})
		}
		crowd.Wait()
	}
	all(callers, false) // connections are made, and stay
	goroutines := settled()
	deaf := deafCallers(t, at, 20)
	e.overload(callers)
	all(callers, true)
	for _, conn := range deaf {
		_ = conn.Close()
	}
	deadline := time.Now().Add(time.Minute)
	for (e.count(0) > 0 || runtime.NumGoroutine() > goroutines+callers/2) && time.Now().Before(deadline) {
		client.CloseIdleConnections()
		time.Sleep(10 * time.Millisecond)
	}
	if left := e.count(0); left > 0 {
		t.Errorf("I55: %d callers are gone, and their provider still talks", left)
	}
	if now := runtime.NumGoroutine(); now > goroutines+callers/2 {
		t.Errorf("I45: %d goroutines, and %d before", now, goroutines)
	}
}

// overload has it tell every other one of so many callers that it is overloaded, once.
func (e *echoing) overload(callers int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.first, e.missing, e.all = map[string]bool{}, map[string]bool{}, make(chan struct{})
	for n := range callers {
		e.missing[stampOf(n)] = true
		if n%2 == 1 {
			e.first[stampOf(n)] = true
		}
	}
}

// settled is how many goroutines there are once their number stays.
func settled() int {
	n := runtime.NumGoroutine()
	for range 50 {
		time.Sleep(10 * time.Millisecond)
		now := runtime.NumGoroutine()
		if now >= n {
			break
		}
		n = now
	}
	return n
}

// deafCallers ask, and read nothing.
func deafCallers(t *testing.T, at string, callers int) (conns []net.Conn) {
	t.Helper()
	for n := range callers {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(at, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		body := fmt.Sprintf(`{"model":"m","stream":true,"messages":[{"role":"user","content":%q}]}`, stampOf(9000+n))
		fmt.Fprintf(conn, "POST /v1/chat/completions HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n%s", conn.RemoteAddr(), token, len(body), body)
		conns = append(conns, conn)
	}
	return conns
}
