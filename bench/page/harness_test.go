package page

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/gateway"
	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/plugins/autorecover"
	"github.com/mulligan-run/mulligan/provider"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/timeline"
	"github.com/mulligan-run/mulligan/web"
)

const (
	opus = "claude-opus-4-5" // Anthropic's wire
	gpt  = "gpt-5.2"         // OpenAI's

	opusFull = "anthropic/" + opus
	gptFull  = "openai/" + gpt
)

// harness is everything that the page talks to.
type harness struct {
	t        *testing.T
	url      string
	lab      *faultlab.Lab
	log      *failingStore
	runner   *runner.Runner
	token    gateway.Digest
	logins   *gateway.Logins
	bearer   string                        // the token itself, for programs
	learns   bool                          // corrections of a failure's kind are allowed
	known    atomic.Pointer[failure.Local] // the corrections
	offline  atomic.Bool                   // this machine has no connection
	keyStore *keyStore                     // where keys are set up; nil = all keys are there
	plugins  *pluginsAtWork
	release  chan struct{}
	advice   func(e hooks.RunError) recovery.Vote // nil = the auto-recover policy
	example  http.HandlerFunc                     // a further page, at /example/
}

// option changes how a harness is built.
type option func(h *harness, more *[]runner.Option)

func advise(f func(e hooks.RunError) recovery.Vote) option {
	return func(h *harness, _ *[]runner.Option) { h.advice = f }
}

func policy(change func(p *recovery.Policy)) option {
	return func(_ *harness, more *[]runner.Option) { *more = append(*more, runner.WithPolicy(change)) }
}

// build builds a harness whose models play those steps.
func build(t *testing.T, options ...option) *harness {
	t.Helper()
	h := &harness{t: t, lab: faultlab.New(), log: &failingStore{Log: timeline.NewMemory()}, release: make(chan struct{}), plugins: newPluginsAtWork()}
	labURL := listen(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if h.offline.Load() {
			panic(http.ErrAbortHandler)
		}
		h.lab.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { _ = h.lab.Close() })
	set, err := provider.New([]provider.Entry{
		{Name: "anthropic", Type: "anthropic", BaseURL: labURL, Key: "sk-ant-lab-0000000000000000"},
		{Name: "openai", Type: "openai", BaseURL: labURL + "/v1", Key: "sk-lab-0000000000000000"},
	}, provider.WithClassifier(func(e failure.Evidence) *failure.Failure { return h.known.Load().Classify(e) }))
	if err != nil {
		t.Fatal(err)
	}
	more := []runner.Option{
		runner.WithLog(h.log), runner.WithModels(set, opusFull, gptFull), runner.WithHook("auto-recover", hooks.Func(h.advise)),
		runner.WithTools(h.tools()...), runner.WithConnectivity(h), runner.WithMinTimeout(10 * time.Millisecond),
	}
	for _, o := range options {
		o(h, &more)
	}
	h.runner = runner.New(more...)
	ctx, cancel := context.WithCancelCause(context.Background())
	cfg := gateway.Config{
		Runs: runs{h.runner, ctx}, Log: h.log, Version: "test",
		Models: func() []gateway.Model {
			if h.keyStore != nil && h.keyStore.Listed().Providers[0].From == "" {
				return nil
			}
			return []gateway.Model{{Name: opusFull, Provider: "Anthropic", Ready: true, Default: true, KeyEnv: "ANTHROPIC_API_KEY"}, {Name: gptFull, Provider: "OpenAI", Ready: true, NoImages: true}}
		},
		Plugins: h.plugins.list, Plugin: h.plugins.act, Providers: providersAtWork,
	}
	if h.keyStore != nil {
		cfg.Keys = h.keyStore
	}
	if h.learns {
		cfg.Learn = h.learn
	}
	api := gateway.New(cfg)
	pages := http.NewServeMux()
	pages.Handle("/", web.Handler())
	pages.HandleFunc("/example/", func(w http.ResponseWriter, r *http.Request) { h.example(w, r) })
	h.url = listen(t, h.guard(api, pages))
	t.Cleanup(func() {
		cancel(runner.ErrLetGo)
		drain, done := context.WithTimeout(context.Background(), 5*time.Second)
		defer done()
		_ = h.runner.Drain(drain)
	})
	return h
}

// guard puts the gateway's guard before the API and the pages, as serve does.
func (h *harness) guard(api, pages http.Handler) http.Handler {
	h.t.Helper()
	state := h.t.TempDir()
	token, err := gateway.OpenToken(state)
	if err != nil {
		h.t.Fatal(err)
	}
	if h.token, err = token.Digest(); err != nil {
		h.t.Fatal(err)
	}
	if h.bearer, err = gateway.ReadToken(state); err != nil {
		h.t.Fatal(err)
	}
	if h.logins, err = gateway.OpenLogins(state, nil); err != nil {
		h.t.Fatal(err)
	}
	guard, err := gateway.NewGuard(gateway.GuardConfig{Token: token.Holds, Logins: h.logins}, api, pages)
	if err != nil {
		h.t.Fatal(err)
	}
	return guard
}

// link is a link that signs a browser in, once.
func (h *harness) link() string {
	h.t.Helper()
	code, err := h.logins.NewCode(h.token)
	if err != nil {
		h.t.Fatal(err)
	}
	return "/#code=" + code
}

// listen serves on loopback until the test ends.
func listen(t *testing.T, handler http.Handler) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = s.Serve(l) }()
	t.Cleanup(func() { _ = s.Close() })
	return "http://" + l.Addr().String()
}

// play sets what the models answer, call by call.
func (h *harness) play(model string, steps ...faultlab.Step) { h.lab.Script(model, steps...) }

// advise is the hook: the auto-recover policy without jitter, or the test's own advice.
func (h *harness) advise(_ context.Context, e hooks.RunError) (recovery.Vote, error) {
	if h.advice != nil {
		return h.advice(e), nil
	}
	return autorecover.Decide(autorecover.DefaultConfig(), autorecover.InputOf(e, time.Now()), 0), nil
}

// Offline implements runner.Connectivity.
func (h *harness) Offline(context.Context, []string) bool { return h.offline.Load() }

// tools are, among others, one that works until it is released, one that needs approval, and one whose
// first call has an unknown outcome.
func (h *harness) tools() []runner.Tool {
	var sent sync.Map
	return []runner.Tool{
		{Name: "run_tests", Description: "Runs the tests.", Run: func(ctx context.Context, _ runner.ToolCall) (string, error) {
			select {
			case <-h.release:
				return "ok  	42 tests", nil
			case <-ctx.Done():
				return "", ctx.Err()
			}
		}},
		{Name: "get_weather", Description: "Tells the weather.", Safety: recovery.SafetyReadOnly, Run: func(context.Context, runner.ToolCall) (string, error) {
			return "14 °C, clear", nil
		}},
		{Name: "read_log", Description: "Reads a long log.", Safety: recovery.SafetyReadOnly, Run: func(context.Context, runner.ToolCall) (string, error) {
			return words(20_000), nil
		}},
		{Name: "pay_bill", Description: "Pays a bill.", Approval: true, Run: func(context.Context, runner.ToolCall) (string, error) {
			return "paid", nil
		}},
		{Name: "send_email", Description: "Sends an e-mail.", Run: func(_ context.Context, call runner.ToolCall) (string, error) {
			if _, again := sent.LoadOrStore(call.IdempotencyKey, true); again {
				return "sent", nil
			}
			return "", fmt.Errorf("the connection broke: %w", runner.ErrOutcomeUnknown)
		}},
	}
}

// runs is the gateway's view of a runner.
type runs struct {
	runner *runner.Runner
	ctx    context.Context
}

func (r runs) Start(ctx context.Context, s gateway.Start) (string, error) {
	p := r.runner.Policy()
	model := opusFull
	if s.Model != "" {
		model = s.Model
		if model == gptFull {
			p.Models = []string{gptFull, opusFull}
		}
	}
	if s.AutoRecover != nil {
		p.AutoRecover = *s.AutoRecover
	}
	req := runner.Request{Prompt: s.Prompt, Messages: s.Messages, Session: s.Session, Labels: s.Labels, Model: model, Policy: &p}
	if s.Key != "" {
		sum := sha256.Sum256([]byte(s.Key))
		req.ID = fmt.Sprintf("k%x", sum[:16])
	}
	run, err := r.runner.Start(r.ctx, req)
	if exists, ok := errors.AsType[*runner.ExistsError](err); ok {
		return exists.Run, nil
	}
	if errors.Is(err, timeline.ErrSession) || errors.Is(err, runner.ErrSessionBusy) {
		return "", fmt.Errorf("%w: %w", gateway.ErrBusy, err)
	}
	if err != nil {
		return "", err
	}
	_ = ctx
	return run.ID(), nil
}

func (r runs) Inspect(ctx context.Context, id string) (*recovery.Run, error) {
	return r.runner.Inspect(ctx, id)
}

func (r runs) Recover(_ context.Context, id string, a gateway.Answer) error {
	_, err := r.runner.Recover(r.ctx, id, runner.Answer{Suggestion: a.Suggestion, Action: a.Action, Model: a.Model})
	if errors.Is(err, runner.ErrSent) {
		return nil
	}
	return err
}

func (r runs) Cancel(_ context.Context, id string) error { return r.runner.Cancel(r.ctx, id) }

// failingStore is a store whose writes can be made to fail.
type failingStore struct {
	timeline.Log
	mu   sync.Mutex
	full bool
}

func (s *failingStore) Append(ctx context.Context, l timeline.Lease, after uint64, events ...recovery.Event) error {
	s.mu.Lock()
	full := s.full
	s.mu.Unlock()
	if full {
		return errors.New("no space left on device")
	}
	return s.Log.Append(ctx, l, after, events...)
}

func (s *failingStore) fill(full bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.full = full
}

// words is an answer of n words.
func words(n int) string { return strings.TrimSpace(strings.Repeat("word ", n)) }
