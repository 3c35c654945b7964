package provider_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/provider"
)

// bomb is 1 GiB of what block repeats, compressed: many members, which are one file.
func bomb(block []byte) []byte {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = w.Write(bytes.Repeat(block, 1<<20/len(block)))
	_ = w.Close()
	return bytes.Repeat(packed.Bytes(), 1<<10)
}

// explode serves a bomb.
func explode(status int, kind string, bomb []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.Header().Set("Content-Encoding", "gzip")
		w.WriteHeader(status)
		_, _ = w.Write(bomb)
	}
}

// TestHostileAnswers has answers that are larger than anybody should read: each ends
// in a failure, soon, and in bounded memory.
func TestHostileAnswers(t *testing.T) {
	comment := append(bytes.Repeat([]byte(":"), 64<<10-1), '\n')
	line := bytes.Repeat([]byte("x"), 64<<10)
	for name, c := range map[string]struct {
		serve http.HandlerFunc
		want  failure.Kind
	}{
		"a gzip bomb of comments":   {explode(200, "text/event-stream", bomb(comment)), failure.KindMalformedResponse},
		"a gzip bomb of one line":   {explode(200, "text/event-stream", bomb(line)), failure.KindMalformedResponse},
		"a gzip bomb of an error":   {explode(503, "text/plain", bomb(line)), failure.KindOverloaded},
		"a gzip bomb of a document": {explode(200, "application/json", bomb(line)), failure.KindMalformedResponse},
		"a line of 40 MiB": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "data: ")
			for range 40 {
				_, _ = w.Write(bytes.Repeat([]byte("x"), 1<<20))
			}
		}, failure.KindMalformedResponse},
		"a header of 2 MiB": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Large", strings.Repeat("x", 2<<20))
		}, failure.KindMalformedResponse},
		"bytes that are not gzip": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = io.WriteString(w, wholeChat)
		}, failure.KindMalformedResponse},
	} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && strings.Contains(name, "bomb") && name != "a gzip bomb of one line" {
				t.Skip("unpacks a gigabyte")
			}
			s := serve(t, c.serve)
			for _, wire := range wires {
				_, err := hear(t.Context(), t, s, ask(wire))
				f, _ := failure.AsFailure(err)
				if f == nil || f.Kind != c.want || len(f.Detail) > failure.MaxDetail {
					t.Errorf("%s: %v", wire, err)
				}
			}
			server := httptest.NewServer(c.serve)
			defer server.Close()
			if f, _ := verdict(t.Context(), t, watch(t), server.URL); f == nil || f.Kind != c.want {
				t.Errorf("watched: %+v", f)
			}
		})
	}
}

// TestProxyWantsALogin: a proxy's refusal is a matter of configuration, and its
// password stays out of it.
func TestProxyWantsALogin(t *testing.T) {
	asked := make(chan string, 1)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.Method + " " + r.Host
		w.Header().Set("Proxy-Authenticate", `Basic realm="corp"`)
		w.WriteHeader(http.StatusProxyAuthRequired)
	}))
	defer proxy.Close()
	through := strings.Replace(proxy.URL, "http://", "http://user:hidden-word@", 1)
	for _, wire := range wires {
		s, err := provider.New([]provider.Entry{{Name: wire, Type: wire, BaseURL: "https://api.example.com", Key: key, Proxy: through}})
		if err != nil {
			t.Fatal(err)
		}
		_, err = hear(t.Context(), t, s, ask(wire))
		f, _ := failure.AsFailure(err)
		if f == nil || f.Kind != failure.KindMisconfigured || strings.Contains(f.Error(), "hidden-word") {
			t.Errorf("%s: %v", wire, err)
		}
		if got := <-asked; got != "CONNECT api.example.com:443" {
			t.Errorf("%s: the proxy was asked %q", wire, got)
		}
	}
}
