package bench

import (
	"context"
	"crypto/sha256"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/config"
	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/gateway"
	"github.com/mulligan-run/mulligan/server"
)

// long is a model whose answer has 200 deltas.
const long = "long"

// longText never repeats a word immediately, since some proxies treat a model that repeats itself
// as broken.
var longText = strings.TrimSpace(strings.Repeat("some word ", 100))

func init() {
	roles["proxied"] = func([]string) error {
		lab := faultlab.New()
		lab.Script(long, faultlab.Answer(longText))
		lab.Script(steady, faultlab.Answer(answerText))
		server, err := lab.Listen("127.0.0.1:0")
		if err != nil {
			return err
		}
		defer server.Close()
		return serveUntilEOF(server.URL())
	}
}

// benchToken is the token that the proxy's caller sends instead of a key.
type benchToken struct{}

func (benchToken) Holds(digest gateway.Digest) (bool, error) {
	return digest == sha256.Sum256([]byte("sk-bench")), nil
}

// hop is the standard library's reverse proxy, which only forwards: the cost of a second
// connection, whatever program is there.
func hop(b *testing.B, to string) (at string) {
	b.Helper()
	target, err := url.Parse(to)
	if err != nil {
		b.Fatal(err)
	}
	p := httputil.NewSingleHostReverseProxy(target)
	p.FlushInterval = -1 // at once
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).EnableFullDuplex() // the provider may answer before net/http knows that it has read everything
		p.ServeHTTP(w, r)
	}))
	b.Cleanup(server.Close)
	return server.URL
}

// BenchmarkProxy measures a streamed call through the recovering proxy with a durable log, in turns
// with the same call made directly: the call of BenchmarkStream, and one of 200 deltas. The same
// call is also made through a server that only forwards.
func BenchmarkProxy(b *testing.B) {
	at := process(b, "proxied")
	c, err := config.Parse([]byte("plugins: []\nproviders: {openai: {base_url: \"" + at + "/v1\", key_env: BENCH_KEY}}\n"))
	if err != nil {
		b.Fatal(err)
	}
	b.Setenv("BENCH_KEY", "sk-proj-0123456789abcdefghijklmnopqrstuvwxyz") // as long as real ones, since answers are searched for it
	c.State = b.TempDir()
	srv, err := server.New(c, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer srv.Close()
	if err := srv.OpenLog(context.Background()); err != nil {
		b.Fatal(err)
	}
	r, models, err := srv.Driver(b.Context(), slog.New(slog.DiscardHandler), nil)
	if err != nil {
		b.Fatal(err)
	}
	defer models.Close()
	p, err := srv.NewProxy(r, models, benchToken{}, &server.Reach{}, slog.New(slog.DiscardHandler))
	if err != nil {
		b.Fatal(err)
	}
	face := httptest.NewServer(http.Handler(p))
	defer face.Close()
	dial := (&net.Dialer{}).DialContext
	through, direct, idle := newBare(face.URL, dial), newBare(at, dial), newBare(hop(b, at), dial)
	for _, call := range []struct{ name, model, text string }{{"steady", steady, answerText}, {"long", long, longText}} {
		b.Run(call.name, func(b *testing.B) {
			var proxied, bare, passed calls
			check := func(text string, err error) {
				if err != nil || text != call.text {
					b.Fatalf("got %q, %v", text, err)
				}
			}
			for b.Loop() {
				proxied.time(b, func() { check(through.ask(b.Context(), call.model, "hi")) })
				bare.time(b, func() { check(direct.ask(b.Context(), call.model, "hi")) })
				passed.time(b, func() { check(idle.ask(b.Context(), call.model, "hi")) })
			}
			proxied.report(b, "")
			bare.report(b, base)
			passed.report(b, "hop-")
		})
	}
}
