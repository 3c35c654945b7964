package server

import (
	"cmp"
	"context"
	"errors"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/mulligan-run/mulligan/config"
	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/gateway"
	"github.com/mulligan-run/mulligan/health"
	"github.com/mulligan-run/mulligan/internal/keystore"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/provider"
	"github.com/mulligan-run/mulligan/timeline"
)

// Where a provider's key comes from.
const (
	KeyOfEnvironment = "environment"
	KeyKept          = "kept"
)

// keyPages are the pages on which the usual providers create keys.
var keyPages = map[string]string{
	"anthropic": "https://console.anthropic.com/settings/keys", "openai": "https://platform.openai.com/api-keys",
	"gemini": "https://aistudio.google.com/apikey", "openrouter": "https://openrouter.ai/settings/keys",
}

// keysOf is the key store in c's state folder; nil if there is no state folder.
func keysOf(c *config.Config) *keystore.Store {
	dir, err := c.StateDir(os.Getenv)
	if err != nil {
		return nil
	}
	return keystore.Open(dir, keystore.KeyringFor(dir, runtime.GOOS, os.Getenv))
}

// env returns an environment variable or, if it is not set, the key kept in its place.
func (m *Models) env(name string) string {
	if value := os.Getenv(name); value != "" || m.keys == nil {
		return value
	}
	return m.keys.Get(name)
}

// keyFrom says where the key for an environment variable comes from: KeyOfEnvironment or
// KeyKept, "" if there is no key.
func (m *Models) keyFrom(variable string) string {
	switch {
	case variable == "":
		return ""
	case os.Getenv(variable) != "":
		return KeyOfEnvironment
	case m.keys != nil && m.keys.Get(variable) != "":
		return KeyKept
	}
	return ""
}

// KeyPlace is keyFrom in words, "" if there is no key.
func (m *Models) KeyPlace(variable string) string {
	switch m.keyFrom(variable) {
	case KeyOfEnvironment:
		return variable + " is set"
	case KeyKept:
		return "the one for " + variable + " in " + m.keys.Place(variable)
	}
	return ""
}

// KeyFile is the file that keeps keys, and why it is not used; "" if there is no place for it.
func (m *Models) KeyFile() (path string, problem error) {
	if m.keys == nil {
		return "", nil
	}
	return m.keys.Path(), m.keys.Check()
}

// keyDesk implements gateway.Keys.
type keyDesk struct {
	config *config.Config
	models *Models
	known  *health.Health
}

// keyDesk is nil if others could intercept keys on the way to the page, or if several machines
// share the runs, because a key that is kept on one machine is missing on the others.
func (srv *Server) keyDesk(models *Models, known *health.Health) gateway.Keys {
	if _, shared := besides[timeline.Members](srv.Log); shared || !srv.private || models.keys == nil {
		return nil
	}
	return &keyDesk{srv.Config, models, known}
}

// Listed implements gateway.Keys.
func (k *keyDesk) Listed() gateway.KeysListed {
	listed := gateway.KeysListed{Keeps: true, Keyring: k.models.keys.Ring() != ""}
	if err := k.models.keys.Check(); err != nil {
		listed.Problem = words.Sentence(err.Error())
	}
	for _, e := range k.entries() {
		listed.Providers = append(listed.Providers, gateway.KeyProvider{
			Name: e.Name, Title: words.ProviderName(e.Name), KeyEnv: e.KeyEnv, From: k.models.keyFrom(e.KeyEnv),
			Kept: k.models.keys.Get(e.KeyEnv) != "", Model: k.modelOf(e.Name), Page: keyPages[e.Name],
		})
	}
	return listed
}

// entries are the provider entries that take a key from the environment, the usual ones first;
// one of those that share a variable.
func (k *keyDesk) entries() []provider.Entry {
	all := k.models.Set.Entries()
	rank := func(e provider.Entry) int {
		if i := slices.IndexFunc(usualModels, func(u usualModel) bool { return u.entry == e.Name }); i >= 0 {
			return i
		}
		return len(usualModels)
	}
	slices.SortStableFunc(all, func(a, b provider.Entry) int { return cmp.Compare(rank(a), rank(b)) })
	var list []provider.Entry
	for _, e := range all {
		_, own := k.config.Providers[e.Name]
		usual := rank(e) < len(usualModels)
		if k.models.keyEnv(e.Name) == "" || !own && !usual || e.Type == provider.TypePi {
			continue
		}
		if !slices.ContainsFunc(list, func(o provider.Entry) bool { return o.KeyEnv == e.KeyEnv }) {
			list = append(list, e)
		}
	}
	return list
}

// modelOf is the model with which an entry's key is tried: a configured one, or the usual
// one.
func (k *keyDesk) modelOf(entry string) string {
	names := slices.Concat([]string{k.config.Model}, k.config.Fallbacks, k.config.Models)
	for _, usual := range usualModels {
		names = append(names, usual.model)
	}
	i := slices.IndexFunc(names, func(name string) bool { return strings.HasPrefix(name, entry+"/") })
	if i < 0 {
		return ""
	}
	return names[i]
}

// Keep implements gateway.Keys. The first thing it does is to register the key as a secret.
func (k *keyDesk) Keep(entry, key string) error {
	secrets.Add(key)
	return k.models.keys.Set(k.models.keyEnv(entry), key)
}

// Forget implements gateway.Keys.
func (k *keyDesk) Forget(entry string) error { return k.models.keys.Remove(k.models.keyEnv(entry)) }

// Try implements gateway.Keys. The first sign of an answer is enough.
func (k *keyDesk) Try(ctx context.Context, entry string) gateway.KeyTried {
	const patience = 30 * time.Second
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	tried := gateway.KeyTried{Model: k.modelOf(entry)}
	began := time.Now()
	err := k.ask(ctx, tried.Model)
	tried.Millis = time.Since(began).Milliseconds()
	if err == nil {
		tried.Answered = true
		k.known.Succeeded(tried.Model) // the cooldown was for an earlier failure
		return tried
	}
	f, ok := errors.AsType[*failure.Failure](err)
	switch {
	case ctx.Err() != nil:
		f = &failure.Failure{Kind: failure.KindTimeout, Title: words.ProviderName(entry) + " does not answer", Message: "Nothing came within " + words.Duration(patience) + ". Try again, or look at its status page."}
	case !ok:
		f = &failure.Failure{Kind: failure.KindUnknown, Title: words.ProviderName(entry) + " cannot be asked", Message: words.Sentence(err.Error())}
	}
	tried.Failure = f
	return tried
}

func (k *keyDesk) ask(ctx context.Context, name string) error {
	const most = 16
	model, err := k.models.Model(name)
	if err != nil {
		return err
	}
	request := llm.Request{Model: name, Messages: []llm.Message{llm.User("Answer with one word: ready")}, MaxOutputTokens: most, ConnectTimeout: 10 * time.Second}
	for _, err := range model.Stream(ctx, request) {
		return err
	}
	return errors.New("the provider sent an empty answer: try again")
}
