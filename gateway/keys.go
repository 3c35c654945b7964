package gateway

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/mulligan-run/mulligan/failure"
)

// Keys are an installation's API keys, which the person who operates it sets up. A key is used
// from the next call on, and is never returned.
type Keys interface {
	// Listed says which providers take a key, and where it comes from.
	Listed() KeysListed
	// Local lists the model servers on this machine that answer.
	Local(ctx context.Context) []LocalServer
	// Keep stores a key for a provider of Listed. An *InputError says what is wrong with
	// it.
	Keep(provider, key string) error
	// Forget removes the key that Keep stored for a provider of Listed.
	Forget(provider string) error
	// Try makes a short call to a model of a provider of Listed.
	Try(ctx context.Context, provider string) KeyTried
}

// KeysListed is which providers take a key.
type KeysListed struct {
	Keeps     bool          `json:"keeps" doc:"Keys can be kept here. Where they cannot, they come from the environment alone."`
	Keyring   bool          `json:"keyring,omitempty" doc:"They are kept in the keyring of the gateway's system, not in a file."`
	Problem   string        `json:"problem,omitempty" doc:"Why kept keys are not used now, and what to do about it."`
	Providers []KeyProvider `json:"providers" doc:"Those that take a key, the usual ones first."`
	Local     []LocalServer `json:"local" doc:"Model servers on the gateway's computer that answer now, and need no key."`
}

// KeyProvider is a provider that takes a key.
type KeyProvider struct {
	Name   string `json:"name" doc:"As the names of its models begin."`
	Title  string `json:"title" doc:"Its name for people."`
	KeyEnv string `json:"keyEnv" doc:"The environment variable that its key is read from."`
	From   string `json:"from,omitempty" doc:"Where its key is from: environment, or kept; absent where it has none. That of the environment counts."`
	Kept   bool   `json:"kept,omitempty" doc:"A key of it is kept, whether it counts or not."`
	Model  string `json:"model,omitempty" doc:"The model that is asked where its key is tried; absent where none is known."`
	Page   string `json:"page,omitempty" doc:"Where it makes keys."`
}

// LocalServer is a model server on the gateway's computer.
type LocalServer struct {
	Name   string   `json:"name" doc:"As the names of its models begin."`
	Title  string   `json:"title" doc:"Its name for people."`
	Models []string `json:"models" doc:"Its models by their full names, provider/model."`
}

// KeyTried is the result of Try.
type KeyTried struct {
	Model    string           `json:"model" doc:"The model that was asked."`
	Answered bool             `json:"answered"`
	Millis   int64            `json:"ms" doc:"How long that took."`
	Failure  *failure.Failure `json:"failure,omitempty" doc:"Why it did not answer."`
}

// keyKept is a key. Errors about it never quote it: see shape.
type keyKept struct {
	Key string `json:"key" minLength:"8" maxLength:"4096" pattern:"^[!-~]*$" patternDescription:"a key: no spaces, and no letters beyond ASCII" writeOnly:"true" doc:"The key."`
}

type keysListed struct{ Body KeysListed }

// KeyPath names a provider.
type KeyPath struct {
	Provider string `path:"provider" minLength:"1" maxLength:"128" pattern:"^[A-Za-z0-9._-]+$" doc:"The provider's name, as GET /v1/keys lists it." example:"anthropic"`
}

type keyInput struct {
	KeyPath
	Body keyKept
}

type keyTried struct{ Body KeyTried }

func (g *Gateway) registerKeys() {
	const where = " 409: keys are not set up here: others could read along, or several machines share the database."
	register(g, huma.Operation{
		OperationID: "list-keys", Method: http.MethodGet, Path: "/v1/keys", Tags: []string{"keys"},
		Summary: "The providers that take an API key, and the model servers of the gateway's computer; never a key",
	}, g.listKeys)
	register(g, huma.Operation{
		OperationID: "keep-key", Method: http.MethodPut, Path: "/v1/keys/{provider}", Tags: []string{"keys"},
		Summary:     "Keep a provider's API key on the gateway's computer",
		Description: "It is used from the next call on, by all processes of the state folder, and it is never given back." + where,
		Errors:      []int{http.StatusNotFound, http.StatusConflict, http.StatusUnprocessableEntity},
	}, g.keepKey)
	register(g, huma.Operation{
		OperationID: "forget-key", Method: http.MethodDelete, Path: "/v1/keys/{provider}", Tags: []string{"keys"},
		Summary:     "Forget a provider's key that was kept",
		Description: "That of the environment stays." + where,
		Errors:      []int{http.StatusNotFound, http.StatusConflict},
	}, g.forgetKey)
	register(g, huma.Operation{
		OperationID: "try-key", Method: http.MethodPost, Path: "/v1/keys/{provider}/try", Tags: []string{"keys"},
		Summary:     "Ask a model of a provider for a word, with the key that it has",
		Description: "The answer says whether that went well, and if not, why." + where,
		Errors:      []int{http.StatusNotFound, http.StatusConflict},
	}, g.tryKey)
}

func (g *Gateway) listKeys(ctx context.Context, _ *struct{}) (*keysListed, error) {
	var listed KeysListed
	if g.cfg.Keys != nil {
		listed = g.cfg.Keys.Listed()
		listed.Local = g.cfg.Keys.Local(ctx)
	}
	// The lists must not be null.
	listed.Providers = append([]KeyProvider{}, listed.Providers...)
	listed.Local = append([]LocalServer{}, listed.Local...)
	return &keysListed{listed}, nil
}

// keyed finds a provider that takes a key.
func (g *Gateway) keyed(name string) (*KeyProvider, error) {
	if g.cfg.Keys == nil {
		return nil, huma.Error409Conflict("keys are not set up here: put them into the environment of mulligan serve")
	}
	for _, p := range g.cfg.Keys.Listed().Providers {
		if p.Name == name {
			return &p, nil
		}
	}
	return nil, huma.Error404NotFound("no provider of that name takes a key: GET /v1/keys lists them")
}

func (g *Gateway) keepKey(_ context.Context, in *keyInput) (*struct{}, error) {
	p, err := g.keyed(in.Provider)
	if err != nil {
		return nil, err
	}
	if err := g.cfg.Keys.Keep(p.Name, in.Body.Key); err != nil {
		return nil, g.keyProblem(err)
	}
	g.cfg.Logger.Info("a key was kept", "provider", p.Name, "for", p.KeyEnv)
	return nil, nil
}

func (g *Gateway) forgetKey(_ context.Context, in *KeyPath) (*struct{}, error) {
	p, err := g.keyed(in.Provider)
	if err != nil {
		return nil, err
	}
	if err := g.cfg.Keys.Forget(p.Name); err != nil {
		return nil, g.keyProblem(err)
	}
	g.cfg.Logger.Info("a key was forgotten", "provider", p.Name, "for", p.KeyEnv)
	return nil, nil
}

// keyProblem says why the key file could not be written: it is damaged, others can read it, or
// the disk is full. The person who asks can mend that.
func (g *Gateway) keyProblem(err error) error {
	g.cfg.Logger.Warn("keys", "err", err)
	return huma.Error409Conflict(err.Error())
}

func (g *Gateway) tryKey(ctx context.Context, in *KeyPath) (*keyTried, error) {
	p, err := g.keyed(in.Provider)
	if err != nil {
		return nil, err
	}
	if p.Model == "" {
		return nil, huma.Error409Conflict("no model of " + p.Name + " is known that could be asked: name one in the configuration (models:)")
	}
	return &keyTried{g.cfg.Keys.Try(ctx, p.Name)}, nil
}
