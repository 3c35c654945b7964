package provider_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/provider"
)

// TestProxyOfTheEnvironment: HTTPS_PROXY and its like in both cases of letters, their
// exceptions, and what an entry says for itself.
func TestProxyOfTheEnvironment(t *testing.T) {
	const corp, other = "http://corp.example:3128", "http://u:hidden-w0rd@other.example:80"
	entry := func(base, proxy string) provider.Entry {
		return provider.Entry{Name: "e", Type: provider.TypeOpenAI, BaseURL: base, Key: key, Proxy: proxy, AllowPrivate: true}
	}
	for name, tt := range map[string]struct {
		env   map[string]string
		entry provider.Entry
		want  string // address, and where it was set
	}{
		"none is set":                 {nil, entry("https://api.example.com", ""), ""},
		"HTTPS_PROXY":                 {map[string]string{"HTTPS_PROXY": corp}, entry("https://api.example.com", ""), "corp.example:3128 HTTPS_PROXY"},
		"https_proxy":                 {map[string]string{"https_proxy": corp}, entry("https://api.example.com", ""), "corp.example:3128 https_proxy"},
		"both":                        {map[string]string{"HTTPS_PROXY": corp, "https_proxy": other}, entry("https://api.example.com", ""), "corp.example:3128 HTTPS_PROXY"},
		"without a scheme":            {map[string]string{"HTTPS_PROXY": "corp.example:3128"}, entry("https://api.example.com", ""), "corp.example:3128 HTTPS_PROXY"},
		"the service's own address":   {map[string]string{"HTTPS_PROXY": corp}, entry("", ""), "corp.example:3128 HTTPS_PROXY"},
		"HTTP_PROXY is for http":      {map[string]string{"HTTP_PROXY": corp}, entry("https://api.example.com", ""), ""},
		"HTTP_PROXY":                  {map[string]string{"HTTP_PROXY": corp, "HTTPS_PROXY": other}, entry("http://10.1.2.3", ""), "corp.example:3128 HTTP_PROXY"},
		"http_proxy":                  {map[string]string{"http_proxy": corp}, entry("http://10.1.2.3", ""), "corp.example:3128 http_proxy"},
		"this machine":                {map[string]string{"HTTP_PROXY": corp, "HTTPS_PROXY": corp}, entry("http://127.0.0.1:11434/v1", ""), ""},
		"this machine, by name":       {map[string]string{"HTTP_PROXY": corp}, entry("http://models.localhost:11434/v1", ""), ""},
		"NO_PROXY, a name":            {map[string]string{"HTTPS_PROXY": corp, "NO_PROXY": "other.example, api.example.com"}, entry("https://api.example.com", ""), ""},
		"no_proxy, a domain":          {map[string]string{"HTTPS_PROXY": corp, "no_proxy": ".example.com"}, entry("https://api.example.com", ""), ""},
		"NO_PROXY, a network":         {map[string]string{"HTTP_PROXY": corp, "NO_PROXY": "10.0.0.0/8"}, entry("http://10.1.2.3", ""), ""},
		"NO_PROXY, everybody":         {map[string]string{"HTTPS_PROXY": corp, "NO_PROXY": "*"}, entry("https://api.example.com", ""), ""},
		"NO_PROXY, somebody else":     {map[string]string{"HTTPS_PROXY": corp, "NO_PROXY": "example.org"}, entry("https://api.example.com", ""), "corp.example:3128 HTTPS_PROXY"},
		"the entry's own":             {map[string]string{"HTTPS_PROXY": corp, "NO_PROXY": "*"}, entry("https://api.example.com", other), "other.example:80 mulligan.yaml (proxy)"},
		"the entry wants none":        {map[string]string{"HTTPS_PROXY": corp}, entry("https://api.example.com", provider.NoProxy), ""},
		"an exception needs no sense": {map[string]string{"HTTPS_PROXY": "::", "NO_PROXY": "*"}, entry("https://api.example.com", ""), ""},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := provider.New([]provider.Entry{tt.entry}, provider.WithEnv(func(name string) string { return tt.env[name] }))
			if err != nil {
				t.Fatal(err)
			}
			address, setting := s.Proxy("e")
			if got := strings.TrimSpace(address + " " + setting); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
			if strings.Contains(tt.entry.Proxy, "hidden") && s.Redact("u:hidden-w0rd") == "u:hidden-w0rd" {
				t.Error("the proxy's password is not known as a secret")
			}
		})
	}
	for _, e := range []provider.Entry{entry("https://api.example.com", "ftp://u:hidden-w0rd@x"), entry("https://api.example.com", "")} {
		env := func(string) string { return "http://u:hidden-w0rd@x:port" }
		if e.Proxy == "" {
			env = func(name string) string { return map[string]string{"HTTPS_PROXY": "http://u:hidden-w0rd@x:port"}[name] }
		}
		_, err := provider.New([]provider.Entry{e}, provider.WithEnv(env))
		if err == nil || strings.Contains(err.Error(), "hidden") || !strings.Contains(err.Error(), "PROXY") && !strings.Contains(err.Error(), "mulligan.yaml") {
			t.Errorf("an address that is none: %v", err)
		}
	}
}

// TestAskedThroughTheEnvironmentsProxy: a whole answer, over a proxy that is real.
func TestAskedThroughTheEnvironmentsProxy(t *testing.T) {
	asked := make(chan string, 2)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- fmt.Sprint(r.Method, " ", r.RequestURI)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, wholeChat)
	}))
	defer proxy.Close()
	env := func(name string) string { return map[string]string{"http_proxy": proxy.URL}[name] }
	s, err := provider.New([]provider.Entry{{Name: "corp", Type: provider.TypeOpenAI, BaseURL: "http://models.corp.example/v1", Key: key, AllowPrivate: true}}, provider.WithEnv(env))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := hear(t.Context(), t, s, ask("corp")); err != nil {
		t.Fatal(err)
	}
	if got := <-asked; got != "POST http://models.corp.example/v1/chat/completions" || len(asked) > 0 {
		t.Errorf("the proxy was asked %q", got)
	}
}
