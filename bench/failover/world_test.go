package failover

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/config"
	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/gateway"
	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/plugins/autorecover"
	"github.com/mulligan-run/mulligan/provider"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/server"
	"github.com/mulligan-run/mulligan/timeline"
)

const (
	token = "the-token-of-the-proxy"
	// latency is how long a provider takes before it says anything, and pace is the time between
	// words.
	latency = 300 * time.Millisecond
	pace    = 50 * time.Millisecond
)

// noon is when a bubble begins to play; it sleeps until then.
var noon = time.Date(2026, 3, 25, 12, 0, 0, 0, time.UTC)

// network is a listener and the way to dial it.
type network struct {
	net.Listener
	dial func(ctx context.Context) (net.Conn, error)
}

// pipes is a network in memory, for bubbles.
func pipes(*testing.T) network {
	l := faultlab.NewMemListener()
	return network{l, l.Dial}
}

// loopback is a real network.
func loopback(t *testing.T) network {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return network{l, func(ctx context.Context) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "tcp", l.Addr().String())
	}}
}

// upstream is one provider on a network of its own.
type upstream struct {
	lab     *faultlab.Lab
	network network
	server  *http.Server
	refuses func(body []byte) bool // requests that it rejects, whatever is played
	plays   func(elapsed time.Duration) faultlab.Step
	model   string
	delay   time.Duration // before it says anything, in addition to latency

	mu    sync.Mutex
	asked []time.Duration // when requests arrived, since the world began
}

// world is a proxy in front of two providers.
type world struct {
	*testing.T
	began      time.Time
	own, spare *upstream
	proxy      *http.Server
	network    network
	client     *http.Client
}

// setting is the caller's wire, how the answer is delivered, and the fallback's wire.
type setting struct {
	wire, spare, mode string
	alone             bool // there is no fallback
}

const settled = `
plugins: []
providers:
  anthropic: {base_url: "http://127.0.0.1:1", key_env: FAILOVER_KEY}
  openai: {base_url: "http://127.0.0.1:1/v1", key_env: FAILOVER_KEY}
  openai-responses: {base_url: "http://127.0.0.1:1/v1", key_env: FAILOVER_KEY}
  gemini: {base_url: "http://127.0.0.1:1", key_env: FAILOVER_KEY}
  spare: {type: %s, base_url: "http://127.0.0.1:2%s", key_env: FAILOVER_KEY, models: {two: {prefill: true}}}
proxy:
  routes: [{match: "*", models: [%s], mode: %s}]
`

// open builds a world on networks of that kind.
func open(t *testing.T, s setting, connect func(*testing.T) network) *world {
	t.Helper()
	w := &world{T: t, began: time.Now(), own: newUpstream("one", connect(t)), spare: newUpstream("two", connect(t)), network: connect(t)}
	w.own.open(w.began)
	w.spare.open(w.began)
	base, models := "/v1", "$provider/$model, spare/two"
	if s.spare == "anthropic" || s.spare == "gemini" {
		base = ""
	}
	if s.alone {
		models = "$provider/$model"
	}
	c, err := config.Parse(fmt.Appendf(nil, settled, s.spare, base, models, s.mode))
	if err != nil {
		t.Fatal(err)
	}
	c.State = t.TempDir()
	srv, err := server.New(c, nil)
	if err != nil {
		t.Fatal(err)
	}
	srv.Log = timeline.NewMemory()
	found, err := server.NewModels(c, provider.WithDial(w.dial))
	if err != nil {
		t.Fatal(err)
	}
	known, err := srv.Health(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	awake := runner.WithSleep(func() time.Duration { return 0 }) // the test's machine may sleep, its bubbles do not
	r := srv.Runner(found, known, "", nil, runner.WithHook(autorecover.Name, hooks.Func(advice)), awake)
	p, err := srv.NewProxy(r, found, secret(sha256.Sum256([]byte(token))), &server.Reach{}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	w.proxy = gateway.Server(p, slog.New(slog.DiscardHandler))
	go func() { _ = w.proxy.Serve(w.network) }()
	w.client = &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return w.network.dial(ctx) }}}
	return w
}

// advice is the policy with its longest possible pauses.
func advice(_ context.Context, e hooks.RunError) (recovery.Vote, error) {
	return autorecover.Decide(autorecover.DefaultConfig(), autorecover.InputOf(e, time.Now()), 1), nil
}

// secret is the digest of the caller's key.
type secret [sha256.Size]byte

func (s secret) Holds(digest gateway.Digest) (bool, error) { return digest == gateway.Digest(s), nil }

// close ends everything.
func (w *world) close() {
	w.client.CloseIdleConnections()
	_ = w.proxy.Close()
	for _, h := range []*upstream{w.own, w.spare} {
		_ = h.lab.Close()
		_ = h.server.Close()
	}
}

// dial reaches the providers by their ports.
func (w *world) dial(ctx context.Context, _, address string) (net.Conn, error) {
	if address == "127.0.0.1:2" {
		return w.spare.network.dial(ctx)
	}
	return w.own.network.dial(ctx)
}

func newUpstream(model string, on network) *upstream {
	h := &upstream{lab: faultlab.New(faultlab.WithPace(pace)), network: on, model: model}
	h.lab.Script(model, faultlab.Answer("Nobody wrote what this one says."))
	return h
}

func (h *upstream) open(began time.Time) {
	h.server = &http.Server{ErrorLog: log.New(discard{}, "", 0), ReadHeaderTimeout: time.Hour, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.mu.Lock()
		h.asked = append(h.asked, time.Since(began))
		h.mu.Unlock()
		if h.plays != nil {
			h.lab.Script(h.model, h.plays(time.Since(began)))
		}
		if h.refused(w, r) {
			return
		}
		time.Sleep(latency + h.delay)
		h.lab.ServeHTTP(w, r)
	})}
	go func() { _ = h.server.Serve(h.network) }()
}

// requests are when requests arrived at any provider, in order.
func (w *world) requests() []time.Duration {
	var all []time.Duration
	for _, h := range []*upstream{w.own, w.spare} {
		h.mu.Lock()
		all = append(all, h.asked...)
		h.mu.Unlock()
	}
	slices.Sort(all)
	return all
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

// TestMain gives the providers a key.
func TestMain(m *testing.M) {
	if err := os.Setenv("FAILOVER_KEY", "sk-of-a-test-0123456789"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
