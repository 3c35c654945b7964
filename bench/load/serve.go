package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mulligan-run/mulligan/gateway"
	"github.com/mulligan-run/mulligan/sdk/go/client"
)

// The names of the provider's entries, one for each of its paths.
const (
	labEntry   = "lab"
	stormEntry = "wild"
	callEntry  = "called"
)

// startAgain is the pause before the request for a run is repeated.
const startAgain = 50 * time.Millisecond

// served is a "mulligan serve", with a client for it.
type served struct {
	*child
	url, token string
	busy       atomic.Int64 // how often it was too busy to begin a run
	http       *http.Client
	client     *client.Client
}

// serve starts the program with a folder of its own; its runs are in a database if one is given.
func serve(ctx context.Context, program, dir, store, provider string) (*served, error) {
	config := filepath.Join(dir, "mulligan.yaml")
	text := fmt.Sprintf("plugins: [{name: auto-recover, restart: {max: 100, window: 1m}, breaker: {after: 20, open: 1s, most: 1s}}]\nmodel: %s/%s\nproviders:\n  %s: {type: anthropic, base_url: %q, key_env: LOAD_KEY}\n  %s: {type: anthropic, base_url: %q, key_env: LOAD_KEY}\n  %s: {type: anthropic, base_url: %q, key_env: LOAD_KEY}\nproxy: {routes: [{match: \"*\", models: [%s/$model]}]}\n",
		labEntry, steadyModel, labEntry, provider, stormEntry, provider+stormPath, callEntry, provider+callersPath, callEntry)
	if store != "" {
		text += fmt.Sprintf("store: %q\n", store)
	}
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return nil, err
	}
	state := filepath.Join(dir, "state")
	cmd := exec.CommandContext(context.WithoutCancel(ctx), program, "serve", "--config", config, "--listen", "127.0.0.1:0", "--json")
	cmd.Env = append(os.Environ(), "LOAD_KEY=any", "XDG_STATE_HOME="+state)
	c, url, err := start(ctx, "gateway", cmd, func(line string) (string, bool) {
		var said struct{ Msg, URL string }
		return said.URL, json.Unmarshal([]byte(line), &said) == nil && said.Msg == "listening"
	})
	if err != nil {
		return nil, err
	}
	s := &served{child: c, url: url, http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true}}}
	if s.token, err = gateway.ReadToken(filepath.Join(state, "mulligan")); err == nil {
		s.client, err = client.New(url, client.WithToken(s.token), client.WithHTTPClient(s.http))
	}
	if err != nil {
		return nil, errors.Join(err, c.stop())
	}
	return s, nil
}

// start begins a run that recovers automatically. If the gateway is too busy, the request
// is repeated with the same key, so that only one run begins.
func (s *served) start(ctx context.Context, model string) (string, error) {
	auto := true
	asked := client.Start{Key: rand.Text(), Prompt: "Tell me what time it is.", Model: model, AutoRecover: &auto}
	for {
		run, err := s.client.Start(ctx, asked)
		p, ok := errors.AsType[*client.Problem](err)
		if !ok || p.Status != http.StatusTooManyRequests && p.Status != http.StatusServiceUnavailable || ctx.Err() != nil {
			return run, err
		}
		s.busy.Add(1)
		sleep(ctx, startAgain)
	}
}

// metric returns the value of a metric of the gateway's.
func (s *served) metric(ctx context.Context, name string) (float64, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/metrics", nil)
	if err != nil {
		return 0, err
	}
	req.Header.Set("Authorization", "Bearer "+s.token)
	resp, err := s.http.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if series, value, _ := strings.Cut(strings.TrimSpace(line), " "); series == name || strings.HasPrefix(series, name+"{") {
			return strconv.ParseFloat(value, 64)
		}
	}
	return 0, fmt.Errorf("the metrics do not have %s", name)
}
