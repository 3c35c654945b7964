package proxy_test

import (
	"bufio"
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/faultlab"
)

// FuzzRequest: whatever a caller sends, headers included, it gets an answer in time, no provider
// gets the proxy's token, and no caller a provider's key.
func FuzzRequest(f *testing.F) {
	paths, err := filepath.Glob(filepath.Join("testdata", "traffic", "*.http"))
	if err != nil || len(paths) == 0 {
		f.Fatal(paths, err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(bytes.Replace(bytes.Replace(data, []byte("sk-observer-0123456789"), []byte(token), 1), []byte("host.invalid"), []byte("localhost"), 1))
	}
	for _, odd := range []string{
		"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nX-Api-Key: " + token + "\r\nConnection: X-Api-Key, Content-Type\r\nX-Mulligan-Stream: hold\r\nX-Mulligan-Session: \xff\r\n\r\n{}",
		"POST /v1/../v1/messages?key=" + token + " HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}",
		"POST /v1beta/models/a/b:streamGenerateContent?alt=sse&alt=json HTTP/1.1\r\nHost: localhost\r\nX-Goog-Api-Key: " + token + "\r\nContent-Length: 15\r\n\r\n{\"contents\":[]}",
	} {
		f.Add([]byte(odd))
	}
	lab := faultlab.New()
	lab.Script("", faultlab.Answer("All is well."))
	var mu sync.Mutex
	var heads []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		heads = append(heads, fmt.Sprint(r.URL, r.Header))
		mu.Unlock()
		lab.ServeHTTP(w, r)
	}))
	f.Cleanup(server.Close)
	p := front(f, server.URL, "$provider/$model", "openai/two")
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(data)))
		if err != nil {
			return
		}
		answer := httptest.NewRecorder()
		over := make(chan struct{})
		go func() {
			defer close(over)
			p.ServeHTTP(answer, r)
		}()
		select {
		case <-over:
		case <-time.After(time.Minute):
			t.Fatal("it hangs")
		}
		if answer.Code < 200 || answer.Code > 599 {
			t.Errorf("status %d", answer.Code)
		}
		if strings.Contains(answer.Body.String(), "key-of-the-provider") {
			t.Error("S36: the provider's key is in the answer")
		}
		mu.Lock()
		defer mu.Unlock()
		for _, head := range heads {
			if strings.Contains(head, token) {
				t.Errorf("S36: a provider gets the proxy's token: %s", head)
			}
		}
		heads = nil
	})
}
