package gateway

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/mulligan-run/mulligan/advice"
	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// Runs starts runs and acts on them. Its errors are those of timeline and recovery, and
// ErrBusy and *InputError of this package.
type Runs interface {
	// Start begins a run and returns its id. If a run was begun before with the same Key,
	// it returns that run's id.
	Start(ctx context.Context, s Start) (run string, err error)
	// Inspect returns a run as it is in the timeline, including what it continues
	// (Carried).
	Inspect(ctx context.Context, run string) (*recovery.Run, error)
	// Recover answers a run's suggestion or live wait, or cuts its model call short.
	Recover(ctx context.Context, run string, a Answer) error
	// Cancel ends a run.
	Cancel(ctx context.Context, run string) error
}

// Config is what a Gateway needs.
type Config struct {
	Runs   Runs
	Log    timeline.Log
	Models func() []Model
	// CheckModel returns what is wrong with a model's name; nil = every name is valid.
	CheckModel func(name string) error
	Plugins    func() []Plugin
	// Stranded says which runs wait because no machine has what they need; nil = none.
	Stranded func(ctx context.Context) (map[string]bool, error)
	// Plugin restarts, disables or enables a plugin of this process; by says who wants that. Its error
	// is ErrNoPlugin, or says why nothing was done. nil = there are no plugins.
	Plugin func(ctx context.Context, name string, act PluginAct, by string) error
	// Providers reports how the providers perform; nil = nothing is counted.
	Providers func() Providers
	// Members lists the processes that share the store; nil = it is not shared.
	Members func(ctx context.Context) ([]Member, error)
	// Learn makes failures like f be of that kind from now on; nil = corrections are not
	// allowed. Errors wrap ErrNotLearned.
	Learn func(f failure.Failure, kind failure.Kind) (Lesson, error)
	// Forget removes what is stored about conversations outside the timeline, by their ids; nil =
	// nothing is.
	Forget func(conversations ...string) error
	// ToolResults gives a run the results of tool calls that its caller carries out; nil = runs
	// have no such tools.
	ToolResults func(ctx context.Context, run string, results []CallResult) error
	// Advice answers questions about other programs' calls; nil = none.
	Advice Advice
	// Lab is a provider that fails on request; nil = none.
	Lab Lab
	// Keys manages API keys; nil = they come only from the environment.
	Keys Keys
	// RPC serves gRPC behind the same Guard; nil = none.
	RPC     http.Handler
	Version string
	Logger  *slog.Logger // nil = no log
	Metrics http.Handler // served at GET /metrics; nil = none
	Now     func() time.Time
}

// Gateway is the HTTP API. It is safe for concurrent use.
type Gateway struct {
	cfg Config
	mux mux
	api huma.API

	runs       *sharedFolds
	situations *situations
	sessions   sync.Mutex       // serialises changes of what is stored about a session
	bodies     map[string]shape // of requests with a body, by the pattern of their route
}

// mux routes requests: an http.ServeMux.
type mux interface {
	humago.Mux
	Handler(r *http.Request) (h http.Handler, pattern string)
}

// ErrBusy says that the session has a run in progress (HTTP 409).
var ErrBusy = errors.New("the session has a run going on")

// InputError says what is wrong with a field of a request (HTTP 422).
type InputError struct {
	Field string // as in the request: "model", "timeouts.idle"
	Err   error
}

// Error names the field.
func (e *InputError) Error() string { return e.Field + ": " + e.Err.Error() }

// Unwrap gives what is wrong.
func (e *InputError) Unwrap() error { return e.Err }

// New makes a Gateway.
func New(cfg Config) *Gateway { return newOn(http.NewServeMux(), cfg) }

func newOn(m mux, cfg Config) *Gateway {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	g := &Gateway{cfg: cfg, mux: m, runs: newSharedFolds(cfg.Runs, cfg.Log), situations: newSituations(cfg), bodies: map[string]shape{}}
	about := huma.DefaultConfig("Mulligan", cfg.Version)
	about.Info.Description = "Runs of LLM agents that recover from failures, and the suggestions that people answer."
	about.Components.Schemas = huma.NewMapRegistry("#/components/schemas/", schemaName)
	about.OpenAPIPath, about.DocsPath, about.SchemasPath = "", "", "" // see document.go
	about.CreateHooks = nil                                           // no links to schemas in answers
	about.RejectUnknownQueryParameters = true
	about.Formats = formats()
	about.Transformers = []huma.Transformer{boundProblem}
	g.api = humago.New(g.mux, about)
	g.registerRuns()
	g.registerTools()
	g.registerAnswers()
	g.registerTogether()
	g.registerEvents()
	g.registerRescue()
	g.registerSessions()
	g.registerThings()
	g.registerProviders()
	g.registerPlugins()
	g.registerKinds()
	g.registerLab()
	g.registerKeys()
	g.registerAdvice()
	g.registerAISDK()
	g.registerAGUI()
	g.registerHealth()
	g.registerDocument()
	return g
}

// ServeHTTP serves the API.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if g.cfg.RPC != nil && advice.IsRPC(r) {
		g.cfg.RPC.ServeHTTP(w, r)
		return
	}
	instead, pattern := g.mux.Handler(r)
	if pattern == "" && refusePath(w, r, instead) {
		return
	}
	if wanted, ok := g.bodies[pattern]; ok && !admit(w, r, wanted) {
		return
	}
	if isStream(r) {
		g.stream(w, r)
		return
	}
	g.mux.ServeHTTP(w, r)
}

// inspect returns a run's state.
func (g *Gateway) inspect(ctx context.Context, run string) (*recovery.Run, error) {
	state, err := g.runs.get(ctx, run)
	if err != nil {
		return nil, g.problem(err)
	}
	return state, nil
}
