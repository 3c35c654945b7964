package proxy_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"

	"github.com/mulligan-run/mulligan/config"
	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/gateway"
	"github.com/mulligan-run/mulligan/plugins/autorecover"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/server"
)

// The proxy is an http.Handler: here before a provider that fails once, which the caller never
// hears of.
func Example() {
	lab := faultlab.New()
	lab.Script("quill-1", faultlab.Unavailable(), faultlab.Answer("A second shot."))
	provider, err := lab.Listen("127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	defer func() { _ = provider.Close() }()
	c, err := config.Parse([]byte(`
providers:
  lab: {type: anthropic, base_url: "` + provider.URL() + `", key_env: LAB_KEY}
plugins: []
proxy:
  routes: [{match: "*", models: [lab/$model]}]
`))
	if err != nil {
		panic(err)
	}
	if c.State, err = os.MkdirTemp("", "mulligan-"); err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(c.State) }()

	_ = os.Setenv("LAB_KEY", "any")
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	srv, err := server.New(c, nil)
	if err != nil {
		panic(err)
	}
	defer srv.Close()
	if err := srv.OpenLog(ctx); err != nil {
		panic(err)
	}
	r, models, err := srv.Driver(ctx, slog.New(slog.DiscardHandler), nil, runner.WithHook(autorecover.Name, autorecover.Hook()))
	if err != nil {
		panic(err)
	}
	defer models.Close()
	secret := "the-token-that-callers-show"
	p, err := srv.NewProxy(r, models, only(secret), &server.Reach{}, slog.New(slog.DiscardHandler))
	if err != nil {
		panic(err)
	}
	door := httptest.NewServer(p)
	defer door.Close()

	ask, err := http.NewRequestWithContext(ctx, http.MethodPost, door.URL+"/v1/messages", strings.NewReader(
		`{"model":"quill-1","max_tokens":100,"messages":[{"role":"user","content":"What is a mulligan?"}]}`))
	if err != nil {
		panic(err)
	}
	ask.Header.Set("X-Api-Key", secret)
	ask.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(ask)
	if err != nil {
		panic(err)
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	fmt.Println(answer.StatusCode, strings.Contains(string(body), "A second shot."), err)
	fmt.Println(p.Tally())
	// Output:
	// 200 true <nil>
	// 1 call rescued: 1 retried; 0 lost
}

// only is a token that one caller knows; gateway.OpenToken has that of an installation.
type only string

func (o only) Holds(sum gateway.Digest) (bool, error) { return sum == gateway.DigestOf(string(o)), nil }
