package server

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"

	"github.com/mulligan-run/mulligan/config"
	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/gateway"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/proxy"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/timeline"
)

// proxyCalls implements proxy.Runs: calls as runs of the runner.
type proxyCalls struct {
	runner *runner.Runner
	models *Models
	config *config.Config
}

// retriesOfCalls is the default number of retries for a call that has another model to switch to.
// Its caller waits, and a third pause of 4 s is longer than asking the other model takes.
const retriesOfCalls = 2

// Call implements proxy.Runs.
func (p *proxyCalls) Call(ctx context.Context, c proxy.Call) (*failure.Failure, error) {
	policy := p.runner.Policy()
	policy.Models, policy.AutoRecover = c.Models, c.AutoRecover
	policy.Delivery, policy.Keep = c.Delivery, c.Keep
	if p.config.MaxRetries == nil && len(c.Models) > 1 {
		policy.MaxRetries = retriesOfCalls
	}
	if c.Suggested != nil {
		policy.SuggestionTTL = failure.InMillis(c.AskFor)
	}
	began := false
	result, err := p.runner.Do(ctx, runner.Request{
		Model: c.Models[0], Policy: &policy, SessionKey: c.SessionKey, Timeouts: p.clocks(c.Models),
		Call: &runner.Call{Request: c.Request, Asked: c.Asked, Caller: c.Caller, Suggested: c.Suggested, Begun: func(run string) {
			began = true
			c.Begun(run)
		}},
	})
	if _, stored := errors.AsType[*timeline.StoreError](err); stored && !began {
		return nil, errors.Join(proxy.ErrStore, err)
	}
	if !began {
		return nil, err
	}
	return p.failureOf(result, err), nil
}

// failureOf is why a call has no answer; nil if it has one. Nobody waits for the answer to a
// suggestion that is open.
func (p *proxyCalls) failureOf(result runner.Result, err error) *failure.Failure {
	if err == nil {
		return nil
	}
	if result.State != nil && result.State.End == nil {
		_ = p.runner.Cancel(context.Background(), result.Run)
	}
	if f, ok := failure.AsFailure(err); ok {
		return f
	}
	kind := failure.KindInternal
	if errors.Is(err, runner.ErrCancelled) || errors.Is(err, runner.ErrLetGo) {
		kind = failure.KindInterrupted
	}
	f := failure.NewFailure(kind, failure.OriginRunner, failure.PhaseMidStream, err)
	f.Describe(failure.Words{})
	return f
}

// forward implements proxy.Config's Forward: it sends a request that is not a model call to a
// provider entry unchanged.
func (m *Models) forward(entry string, r *http.Request, own *llm.Credential) (*http.Response, error) {
	if !m.isDemoEntry(entry) {
		return m.Set.Forward(entry, r, own)
	}
	demo, err := m.StartDemo()
	if err != nil {
		return nil, err
	}
	return demo.Forward(entry, r, own)
}

// types are the wires of all entries, including the demo's.
func (m *Models) types() map[string]string {
	of := map[string]string{}
	for _, e := range append(demoEntries(""), m.Set.Entries()...) {
		of[e.Name] = cmp.Or(e.Type, e.Name)
	}
	return of
}

// Local implements proxy.Runs.
func (p *proxyCalls) Local(model string) bool { return p.models.stays(model) }

// stays reports whether a prompt to the model stays on this machine: the model is served at one
// of this machine's addresses, without a proxy in between, and by a model server. A gateway at
// such an address would pass everything on.
func (m *Models) stays(model string) bool {
	entry, _, _ := strings.Cut(model, "/")
	through, _ := m.Set.Proxy(entry)
	return m.isDemo(model) || m.Set.Loopback(model) && m.Set.Local(model) && through == ""
}

// NewProxy makes the configured proxy. Its callers send that token, and reach it as at
// says.
func (srv *Server) NewProxy(r *runner.Runner, models *Models, token ProxyToken, at *Reach, log *slog.Logger) (*proxy.Proxy, error) {
	types := models.types()
	var traced func(http.Handler) http.Handler
	if srv.telemetry != nil {
		traced = srv.telemetry.Requests
	}
	return proxy.New(proxy.Config{
		Traced: traced,
		Runs:   &proxyCalls{r, models, srv.Config}, Routes: routesOf(srv.Config), Forward: models.forward,
		Token:  func(sum [32]byte) (bool, error) { return token.Holds(gateway.Digest(sum)) },
		Wire:   func(entry string) string { return cmp.Or(types[entry], entry) },
		AskFor: srv.Config.Proxy.AskingFor(), AskMost: srv.Config.Proxy.AskingMost(), Asks: srv.asks(log),
		Answer: func(run string) string { return srv.where("runs show", run) }, // by then nobody can answer any more
		Hosts:  at.Hosts, TLS: at.tls(), Logger: log,
	})
}

// ProxyToken checks the digest of the token that callers send. Token is one.
type ProxyToken interface {
	Holds(digest gateway.Digest) (bool, error)
}

// routesOf are the configured routes or, if there are none, one route for every model.
func routesOf(c *config.Config) []proxy.Route {
	routes := c.Proxy.Routes
	if len(routes) == 0 {
		routes = []config.ProxyRoute{{Match: "*", Models: append([]string{"$provider/$model"}, c.Fallbacks...)}}
	}
	var list []proxy.Route
	for _, r := range routes {
		keep := recovery.KeepFigures
		if r.Keep == "content" {
			keep = recovery.KeepContent
		}
		list = append(list, proxy.Route{
			Match: r.Match, Models: r.Models, Mode: proxy.Mode(r.Mode), AutoRecover: r.AutoRecover == nil || *r.AutoRecover,
			Keep: keep, LocalOnly: r.LocalOnly, CallersKey: r.CallersKey,
		})
	}
	return list
}
