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

// NoProxy as an Entry's Proxy has the entry asked directly, whatever the environment says.
const NoProxy = "none"

// CheckProxy says what is wrong with an Entry's Proxy, without repeating it.
func CheckProxy(proxy string) error {
	if proxy == "" || proxy == NoProxy {
		return nil
	}
	_, err := observe.ParseProxy(proxy)
	return err
}

// ProxySecrets are what may not be shown of a proxy's address: its log-in.
func ProxySecrets(proxy string) []string {
	u, err := observe.ParseProxy(proxy)
	if err != nil {
		return nil
	}
	return observe.ProxySecrets(u)
}

// ownSetting is where a Proxy stands that an Entry has.
const ownSetting = "mulligan.yaml (proxy)"

// through is the proxy on the way to an address for an entry: its own, else the environment's
// as curl and Go know it: HTTPS_PROXY or HTTP_PROXY, by the address, and NO_PROXY; in capitals
// first. This machine is never behind the environment's.
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
		return "", "", nil //nolint:nilerr // the adapter says what is wrong with the base URL
	}
	setting, proxy = s.firstOf(strings.ToUpper(u.Scheme)+"_PROXY", strings.ToLower(u.Scheme)+"_proxy")
	_, exceptions := s.firstOf("NO_PROXY", "no_proxy")
	// Whether an address is an exception does not depend on which proxy it is.
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

// Proxy is the proxy that the entry of that name is asked through, as host:port, and where that
// was set: by a variable of the environment, or by the entry itself. "" = there is none, as
// there is none of ours before an engine.
func (s *Set) Proxy(entry string) (address, setting string) {
	if through, ok := s.adapters[entry].(interface{ Proxy() (string, string) }); ok {
		return through.Proxy()
	}
	return "", ""
}

// TryProxy has the entry's proxy make a connection to the provider, to which nothing is said. The
// error is a *failure.Failure; nil also where there is no proxy.
func (s *Set) TryProxy(ctx context.Context, entry string) error {
	if through, ok := s.adapters[entry].(interface {
		TryProxy(ctx context.Context) error
	}); ok {
		return through.TryProxy(ctx)
	}
	return nil
}
