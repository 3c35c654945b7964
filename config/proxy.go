package config

import (
	"fmt"
	"slices"
	"time"

	"github.com/mulligan-run/mulligan/internal/yamlfile"
)

// Proxy configures the recovering proxy: where it listens, and who answers which calls.
type Proxy struct {
	Listen string `yaml:"listen"` // host:port; 127.0.0.1:8485
	// AskFor is how long a call waits for a person if auto_recover is false on its route; 4m. 0 =
	// its caller gets the failure at once.
	AskFor  string `yaml:"ask_for"`
	AskMost *int   `yaml:"ask_most"` // calls that may wait for persons at a time; 16
	// AskNotify = false shows no notification on this machine's desktop when a call waits; true.
	AskNotify *bool        `yaml:"ask_notify"`
	Routes    []ProxyRoute `yaml:"routes"` // the first that matches a model counts; none = what callers ask for, then the fallbacks
}

// ProxyRoute is a route of the proxy.
type ProxyRoute struct {
	Match       string   `yaml:"match"`        // the model in the caller's words; * stands for anything
	Models      []string `yaml:"models"`       // $model is the model that the caller asks for, $provider the provider whose wire it speaks
	Mode        string   `yaml:"mode"`         // continue, hold or error; continue
	AutoRecover *bool    `yaml:"auto_recover"` // true
	Keep        string   `yaml:"keep"`         // figures or content; figures
	LocalOnly   bool     `yaml:"local_only"`   // contents must not leave this machine
	CallersKey  bool     `yaml:"callers_key"`  // its first provider gets the key that the caller sends in addition to the token
}

// The defaults for asking persons; a call waits no longer than clients do.
const (
	askFor     = 4 * time.Minute
	askForMost = 5 * time.Minute
	askMost    = 16
	askMostOf  = 10_000
)

// AskingFor is how long a call waits for a person.
func (p Proxy) AskingFor() time.Duration {
	if p.AskFor == "" {
		return askFor
	}
	d, err := time.ParseDuration(p.AskFor)
	if err != nil {
		return askFor // Problem has refused it
	}
	return d
}

// AskingMost is how many calls may wait for persons at a time.
func (p Proxy) AskingMost() int {
	if p.AskMost == nil {
		return askMost
	}
	return *p.AskMost
}

// Notifies reports whether the desktop is told that a call waits for a person.
func (p Proxy) Notifies() bool { return p.AskNotify == nil || *p.AskNotify }

func (p Proxy) problem() *yamlfile.Problem {
	if d, err := time.ParseDuration(p.AskFor); p.AskFor != "" && (err != nil || d != 0 && d < time.Second || d > askForMost) {
		return yamlfile.Problemf("$.proxy.ask_for", "%q is neither 0s nor a duration between 1s and %s", p.AskFor, askForMost)
	}
	if p.AskMost != nil && (*p.AskMost < 0 || *p.AskMost > askMostOf) {
		return yamlfile.Problemf("$.proxy.ask_most", "%d is not between 0 and %d", *p.AskMost, askMostOf)
	}
	for i, r := range p.Routes {
		at := fmt.Sprintf("$.proxy.routes[%d]", i)
		switch {
		case r.Match == "":
			return yamlfile.Problemf(at, "it lacks match, for example \"*\"")
		case len(r.Models) == 0:
			return yamlfile.Problemf(at, "it lacks models, for example [$provider/$model]")
		case !slices.Contains([]string{"", "continue", "hold", "error"}, r.Mode):
			return yamlfile.Problemf(at+".mode", "%q is none of continue, hold, error", r.Mode)
		case !slices.Contains([]string{"", "figures", "content"}, r.Keep):
			return yamlfile.Problemf(at+".keep", "%q is none of figures, content", r.Keep)
		}
		for j, m := range r.Models {
			if err := CheckModel(m); err != nil {
				return yamlfile.Problemf(fmt.Sprintf("%s.models[%d]", at, j), "%v", err)
			}
		}
	}
	return nil
}
