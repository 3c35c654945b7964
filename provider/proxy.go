package provider

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/http/httpproxy"

	"github.com/mulligan-run/mulligan/provider/internal/observe"
)

// NoProxy, as an Entry's Proxy, means that the entry is asked directly, whatever the environment
// says.
const NoProxy = "none"

// CheckProxy says what is wrong with an Entry's Proxy, without repeating it.
func CheckProxy(proxy string) error {
	if proxy == "" || proxy == NoProxy {
		return nil
	}
	_, err := observe.ParseProxy(proxy)
	return err
}

// ProxySecrets are the parts of a proxy's address that must not be shown: its login.
func ProxySecrets(proxy string) []string {
	u, err := observe.ParseProxy(proxy)
	if err != nil {
		return nil
	}
	return observe.ProxySecrets(u)
}

// ownSetting is where an Entry's own Proxy is set.
const ownSetting = "mulligan.yaml (proxy)"

// through is the proxy on the way to an address, for an entry: its own, or otherwise the
// environment's, by the rules of curl and Go: HTTPS_PROXY or HTTP_PROXY, depending on the address,
// and NO_PROXY; names in capitals first. The environment's proxy is never used for this machine.
func (s *Set) through(e Entry, base string) (proxy, setting string, err error) {
	switch e.Proxy {
	case NoProxy:
		return "", "", nil
	case "":
		proxy, setting, err = s.environmentProxy(base)
	default:
		proxy, setting = e.Proxy, ownSetting
	}
	if err != nil || proxy == "" {
		return "", "", err
	}
	u, err := observe.ParseProxy(proxy)
	if err != nil {
		return "", "", fmt.Errorf("%s: %w", setting, err)
	}
	s.settings.known.Add(observe.ProxySecrets(u)...)
	return proxy, setting, nil
}

func (s *Set) environmentProxy(base string) (proxy, setting string, err error) {
	u, err := url.Parse(base)
	if err != nil || observe.IsLoopback(u.Hostname()) {
		return "", "", nil //nolint:nilerr // the adapter reports what is wrong with the base URL
	}
	setting, proxy = s.firstOf(strings.ToUpper(u.Scheme)+"_PROXY", strings.ToLower(u.Scheme)+"_proxy")
	_, exceptions := s.firstOf("NO_PROXY", "no_proxy")
	// Whether an address is an exception does not depend on the proxy, so any proxy will do.
	const whichever = "http://proxy.invalid"
	asked, err := (&httpproxy.Config{HTTPProxy: whichever, HTTPSProxy: whichever, NoProxy: exceptions}).ProxyFunc()(u)
	if err != nil || asked == nil {
		return "", "", err
	}
	return proxy, setting, nil
}

// firstOf is the first of these variables that is set, and its value.
func (s *Set) firstOf(names ...string) (name, value string) {
	i := slices.IndexFunc(names, func(name string) bool { return s.settings.env(name) != "" })
	if i < 0 {
		return "", ""
	}
	return names[i], s.settings.env(names[i])
}

// Proxy is the proxy on the way to the entry with that name, as host:port, and where it was set: in
// a variable of the environment, or in the entry; "" = there is none. An engine's own proxy does
// not count.
func (s *Set) Proxy(entry string) (address, setting string) {
	if through, ok := s.adapters[entry].(interface{ Proxy() (string, string) }); ok {
		return through.Proxy()
	}
	return "", ""
}

// TryProxy makes the entry's proxy connect to the provider, without sending the provider anything.
// The error is a *failure.Failure; nil if there is no proxy.
func (s *Set) TryProxy(ctx context.Context, entry string) error {
	if through, ok := s.adapters[entry].(interface {
		TryProxy(ctx context.Context) error
	}); ok {
		return through.TryProxy(ctx)
	}
	return nil
}
