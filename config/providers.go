package config

import (
	"cmp"
	"maps"
	"slices"

	"github.com/mulligan-run/mulligan/internal/yamlfile"
	"github.com/mulligan-run/mulligan/provider"
)

func (e Provider) problem(name string) *yamlfile.Problem {
	at := "$.providers." + yamlfile.QuotePath(name)
	switch {
	case !yamlfile.EntryName.MatchString(name):
		return yamlfile.Problemf(at, "%q is not a name for a provider: use small letters, digits, '.', '_' and '-'", name)
	case e.Type != "" && !provider.KnownType(e.Type):
		return yamlfile.Problemf(at+".type", "%q is not known; there are: %s", e.Type, provider.KnownTypes())
	case e.Type == "" && !provider.KnownType(name):
		return yamlfile.Problemf(at, "its type is missing: one of %s", provider.KnownTypes())
	case provider.CheckProxy(e.Proxy) != nil:
		return yamlfile.Problemf(at+".proxy", "%v; none = no proxy, also where HTTPS_PROXY is set", provider.CheckProxy(e.Proxy))
	case e.KeyEnv != "" && !yamlfile.EnvName.MatchString(e.KeyEnv):
		return yamlfile.Problemf(at+".key_env", "it is the name of an environment variable that holds the key, never the key itself")
	}
	if p := cmp.Or(e.engineProblem(at, cmp.Or(e.Type, name)), e.Timeouts.problem(at+".timeouts"), labelsProblem(at+".needs", e.Needs)); p != nil {
		return p
	}
	for _, model := range slices.Sorted(maps.Keys(e.Models)) {
		if p := e.Models[model].problem(at + ".models." + yamlfile.QuotePath(model)); p != nil {
			return p
		}
	}
	return nil
}
