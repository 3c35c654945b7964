package proxy_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestSmuggling is S37: bytes that two readers could take for different requests are refused
// before a provider sees one of them, or reach it as the one request that they are.
func TestSmuggling(t *testing.T) {
	const hidden = "GET /v1/files/hidden HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer stolen\r\n\r\n"
	post := "POST /v1/files HTTP/1.1\r\nHost: %HOST%\r\nAuthorization: Bearer " + token + "\r\n"
	get := "GET %TARGET% HTTP/1.1\r\nHost: %HOST%\r\nAuthorization: Bearer " + token + "\r\n\r\n"
	refused := map[string]string{
		"two lengths":                 post + "Content-Length: 4\r\nContent-Length: 5\r\n\r\nabcde",
		"two lengths in one":          post + "Content-Length: 4, 5\r\n\r\nabcde",
		"a length with a sign":        post + "Content-Length: +4\r\n\r\nabcd",
		"a negative length":           post + "Content-Length: -1\r\n\r\n",
		"a length in hex":             post + "Content-Length: 0x4\r\n\r\nabcd",
		"a length of nothing":         post + "Content-Length: \r\n\r\nabcd",
		"a length that overflows":     post + "Content-Length: 99999999999999999999\r\n\r\nabcd",
		"chunked twice":               post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"chunked and more":            post + "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
		"not chunked last":            post + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
		"another coding":              post + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" + hidden,
		"chunked with a tab":          post + "Transfer-Encoding:\tchunked\x0b\r\n\r\n0\r\n\r\n",
		"a blank before the colon":    post + "Content-Length : 4\r\n\r\nabcd",
		"a coding before the colon":   post + "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n" + hidden,
		"a first line that is folded": "POST /v1/files HTTP/1.1\r\n Host: %HOST%\r\nAuthorization: Bearer " + token + "\r\n\r\n",
		"a zero in a header":          post + "X-A: b\x00c\r\nContent-Length: 0\r\n\r\n",
		"a bare CR in a header":       post + "X-A: b\rX-B: c\r\nContent-Length: 0\r\n\r\n",
		"a name with a blank":         post + "X A: b\r\nContent-Length: 0\r\n\r\n",
		"no name":                     post + ": b\r\nContent-Length: 0\r\n\r\n",
		"no colon":                    post + "X-A\r\nContent-Length: 0\r\n\r\n",
		"a header of 40 KiB":          post + "X-A: " + strings.Repeat("a", 40<<10) + "\r\nContent-Length: 0\r\n\r\n",
		"a thousand headers":          post + strings.Repeat("X-A: "+strings.Repeat("b", 40)+"\r\n", 1000) + "Content-Length: 0\r\n\r\n",
		"two hosts":                   strings.Replace(post, "Host:", "Host: evil.example\r\nHost:", 1) + "Content-Length: 0\r\n\r\n",
		"no host":                     strings.Replace(post, "Host: %HOST%\r\n", "", 1) + "Content-Length: 0\r\n\r\n",
		"a host with a path":          strings.Replace(post, "%HOST%", "%HOST%/x", 1) + "Content-Length: 0\r\n\r\n",
		"a host with a user":          strings.Replace(post, "%HOST%", "u@%HOST%", 1) + "Content-Length: 0\r\n\r\n",
		"another host":                strings.Replace(post, "%HOST%", "evil.example", 1) + "Content-Length: 0\r\n\r\n",
		"the absolute form":           strings.Replace(get, "%TARGET%", "http://%HOST%/v1/models", 1),
		"another's absolute form":     strings.Replace(get, "%TARGET%", "http://evil.example/v1/models", 1),
		"https in the absolute form":  strings.Replace(get, "%TARGET%", "https://evil.example/v1/models", 1),
		"a tunnel":                    "CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\nAuthorization: Bearer " + token + "\r\n\r\n",
		"no path":                     strings.Replace(get, "%TARGET%", "v1/models", 1),
		"a blank in the path":         strings.Replace(get, "%TARGET%", "/v1/models HTTP/1.1 /x", 1),
		"HTTP/0.9":                    "GET /v1/models\r\n\r\n",
		"HTTP/1.2":                    strings.Replace(strings.Replace(get, "HTTP/1.1", "HTTP/3.9", 1), "%TARGET%", "/v1/models", 1),
		"HTTP/2 by the back door":     "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
		"another protocol":            strings.Replace(get, "\r\n\r\n", "\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA\r\n\r\n", 1),
	}
	for _, target := range []string{
		"//v1/models", "/v1//models", "/v1/./models", "/v1/../v1/models", "/v1/%2e%2e/v1/models", "/v1/%2E%2E%2Fmodels", "/v1/models%2f..", "/v1/models/..%5c",
		"/v1/models\\..\\x", "/v1/models/a;b", "/v1/models/%00", "/v1/models/%0d%0aHost:%20evil", "/v1/models/a%7f", "/./v1/models", "/../v1/models",
	} {
		refused["path "+target] = strings.Replace(get, "%TARGET%", target, 1)
	}
	for name, raw := range refused {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, got := forwarder(t, fallback)
			host := strings.TrimPrefix(w.at, "http://")
			raw := strings.ReplaceAll(strings.ReplaceAll(raw, "%HOST%", host), "%TARGET%", "/v1/models")
			status, _ := w.dial(raw)
			if len(status) > 0 && status[0] < 400 || len(got) > 0 { // to hang up is an answer, too
				t.Errorf("answered with %v, and the provider got %d requests", status, len(got))
			}
		})
	}
	for name, c := range map[string]struct{ raw, body string }{
		"chunked and a length":          {post + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n0\r\n\r\n", "abcd"},
		"a length and chunked":          {post + "Transfer-Encoding: chunked\r\nContent-Length: 100\r\n\r\n4\r\nabcd\r\n0\r\n\r\n", "abcd"},
		"chunked, and a request behind": {post + "Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + hidden, ""},
		"the same length twice":         {post + "Content-Length: 4\r\nContent-Length: 4\r\n\r\nabcd", "abcd"},
		"a request as the body":         {post + fmt.Sprintf("Content-Length: %d\r\n\r\n", len(hidden)) + hidden, hidden},
		"a folded header":               {post + "X-A: b\r\n Authorization: Bearer stolen\r\nContent-Length: 0\r\n\r\n", ""},
		"trailers":                      {post + "Trailer: X-Api-Key\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n0\r\nX-Api-Key: stolen\r\n\r\n", "abcd"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, got := forwarder(t, fallback)
			host := strings.TrimPrefix(w.at, "http://")
			status, open := w.dial(strings.ReplaceAll(c.raw, "%HOST%", host))
			if len(status) != 1 || status[0] != 202 || len(got) != 1 {
				t.Fatalf("answered with %v, and the provider got %d requests", status, len(got))
			}
			p := <-got
			if p.body != c.body || strings.Contains(p.header.Get("Authorization")+p.header.Get("X-Api-Key"), "stolen") || p.target != "/v1/files" {
				t.Errorf("the provider got %+v", p)
			}
			if open && strings.Contains(c.raw, "chunked") {
				t.Error("the connection stays open, for what may be hidden behind the request")
			}
		})
	}
}
