package gateway_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/gateway"
)

// expand puts the gateway's port in.
func expand(text string, g *guarded) string { return strings.ReplaceAll(text, "PORT", g.port()) }

// TestS05OriginsThatAreNotOurs: 20 sets of headers, on every method and the event stream.
func TestS05OriginsThatAreNotOurs(t *testing.T) {
	g := guard(t, func(cfg *gateway.GuardConfig) { cfg.Origins = []string{"https://proxy.example"} })
	g.send("POST", "/v1/runs", `{"prompt":"hi"}`, g.bearer())
	for _, c := range []struct {
		headers string
		good    bool
	}{
		{"Accept: */*", true},
		{"Origin: http://127.0.0.1:PORT", true},
		{"Origin: http://127.0.0.1:PORT|Sec-Fetch-Site: same-origin", true},
		{"Origin: HTTP://127.0.0.1:PORT|Sec-Fetch-Site: same-origin", true},
		{"Origin: https://proxy.example", true},
		{"Origin: https://proxy.example|Sec-Fetch-Site: cross-site", true},
		{"Sec-Fetch-Site: none", true},
		{"Origin: null", false},
		{"Origin: ", false},
		{"Origin: http://evil.com", false},
		{"Origin: http://localhost:PORT", false}, // another name is another origin
		{"Origin: http://127.0.0.1", false},
		{"Origin: http://127.0.0.1:1", false},
		{"Origin: https://127.0.0.1:PORT", false},
		{"Origin: http://127.0.0.1:PORT.evil.com", false},
		{"Origin: http://127.0.0.1:PORT|Origin: http://evil.com", false},
		{"Origin: http://evil.com|X-Forwarded-Host: evil.com|X-Forwarded-Proto: http", false},
		{"Origin: http://evil.com|Forwarded: host=evil.com;proto=http", false},
		{"Origin: http://evil.com|X-Original-Host: evil.com|Sec-Fetch-Site: same-origin", false},
		{"Origin: http://proxy.example", false},
	} {
		headers := append(strings.Split(expand(c.headers, g), "|"), g.bearer())
		for _, request := range []string{"GET /v1/runs", "GET /v1/runs/r1/events", "HEAD /v1/runs", "POST /v1/runs", "PUT /v1/sessions/s", "DELETE /v1/runs/r1", "GET /"} {
			method, path, _ := strings.Cut(request, " ")
			body := ""
			if method == "POST" || method == "PUT" {
				body = `{"prompt":"hi"}`
			}
			got := g.send(method, path, body, headers...)
			if refused := got.code == http.StatusForbidden; refused == c.good {
				t.Errorf("%s with %s: %d %s", request, c.headers, got.code, got.body)
			}
		}
	}
}

// TestS05PagesNextDoor: another port of this machine is the same site, so a browser sends
// it the cookie, and no Origin with a picture or a script.
func TestS05PagesNextDoor(t *testing.T) {
	g := guard(t, nil)
	for _, from := range []string{"same-site", "cross-site", "unheard-of"} {
		if got := g.send("GET", "/v1/runs", "", g.bearer(), "Sec-Fetch-Site: "+from); got.code != http.StatusForbidden {
			t.Errorf("%s: %d", from, got.code)
		}
	}
	if got := g.send("GET", "/", "", "Sec-Fetch-Site: cross-site"); got.code != http.StatusOK {
		t.Errorf("a link to the page: %d", got.code)
	}
}

// TestS06WritesOfOtherPages: forms, and scripts that may send no more than forms.
func TestS06WritesOfOtherPages(t *testing.T) {
	g := guard(t, nil)
	cookie, own := g.logIn(), "Origin: "+g.URL
	for _, c := range []struct {
		name    string
		headers []string
		code    int
	}{
		{"our page", []string{cookie, own, csrf, "Sec-Fetch-Site: same-origin"}, 201},
		{"a program", []string{g.bearer()}, 201},
		{"a program that says its charset", []string{g.bearer(), "Content-Type: application/json; charset=utf-8"}, 201},
		{"no CSRF header", []string{cookie, own}, 403},
		{"cross-site by its metadata alone", []string{cookie, csrf, "Sec-Fetch-Site: cross-site"}, 403},
		{"same-site by its metadata alone", []string{cookie, csrf, "Sec-Fetch-Site: same-site"}, 403},
		{"a form", []string{cookie, "Origin: http://evil.com", "Content-Type: application/x-www-form-urlencoded"}, 403},
		{"a form of our own", []string{cookie, own, csrf, "Content-Type: application/x-www-form-urlencoded"}, 415},
		{"text", []string{g.bearer(), "Content-Type: text/plain"}, 415},
		{"a file", []string{g.bearer(), "Content-Type: multipart/form-data; boundary=x"}, 415},
		{"almost JSON", []string{g.bearer(), "Content-Type: application/jsonp"}, 415},
		{"no kind", []string{g.bearer(), "Content-Type: "}, 415},
	} {
		if got := g.send("POST", "/v1/runs", `{"prompt":"hi"}`, c.headers...); got.code != c.code {
			t.Errorf("%s: %d, not %d: %s", c.name, got.code, c.code, got.body)
		}
	}
	for _, kind := range []string{"text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"} {
		if got := g.send("POST", "/v1/runs/r1/cancel", "a=b", g.bearer(), "Content-Type: "+kind); got.code != http.StatusUnsupportedMediaType {
			t.Errorf("%s to what needs no body: %d", kind, got.code)
		}
	}
	for _, method := range []string{"POST", "PUT", "PATCH", "DELETE"} {
		if got := g.send(method, "/v1/runs/r1/cancel", "", cookie, own); got.code != http.StatusForbidden {
			t.Errorf("%s without a body and the CSRF header: %d", method, got.code)
		}
	}
}

// TestS07NoCORS: no answer has a header of CORS, and a preflight is given nothing.
func TestS07NoCORS(t *testing.T) {
	g := guard(t, func(cfg *gateway.GuardConfig) { cfg.Origins = []string{"https://proxy.example"} })
	for _, origin := range []string{g.URL, "https://proxy.example", "http://evil.com", "null"} {
		for _, method := range []string{"OPTIONS", "GET", "POST"} {
			got := g.send(method, "/v1/runs", "", "Origin: "+origin, g.bearer(),
				"Access-Control-Request-Method: POST", "Access-Control-Request-Headers: authorization")
			for name := range got.header {
				if strings.HasPrefix(name, "Access-Control-") {
					t.Errorf("%s of %s is given %s", method, origin, name)
				}
			}
			if method == "OPTIONS" && got.code < 400 {
				t.Errorf("a preflight of %s: %d", origin, got.code)
			}
		}
	}
}

// TestS10HeadersOfEveryAnswer: the page, the API, and refusals alike.
func TestS10HeadersOfEveryAnswer(t *testing.T) {
	g := guard(t, nil)
	for _, path := range []string{"/", "/v1/runs", "/v1/nothing", "/healthz"} {
		for _, headers := range [][]string{{g.bearer()}, nil, {"Host: evil.com"}, {"Origin: null"}} {
			got := g.send("GET", path, "", headers...)
			for name, want := range map[string]string{
				"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "X-Frame-Options": "DENY", "Cross-Origin-Resource-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin",
			} {
				if got.header.Get(name) != want {
					t.Errorf("%s %v: %s is %q", path, headers, name, got.header.Get(name))
				}
			}
			policy := got.header.Get("Content-Security-Policy")
			if !strings.Contains(policy, "frame-ancestors 'none'") || !strings.HasPrefix(policy, "default-src '") || strings.Contains(policy, "unsafe") {
				t.Errorf("%s %v: the policy is %q", path, headers, policy)
			}
			if path == "/" && len(got.header.Values("Content-Security-Policy")) != 1 || path == "/" && !strings.Contains(policy, "default-src 'self'; img-src 'self' data:;") {
				t.Errorf("%v: the page's policy is %q", headers, got.header.Values("Content-Security-Policy"))
			}
			if api := strings.HasPrefix(path, "/v1/"); api && got.header.Get("Cache-Control") != "no-store" {
				t.Errorf("%s %v may be stored: %q", path, headers, got.header.Get("Cache-Control"))
			}
		}
	}
}
