package faultlab_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/faultlab"
)

// onTCP is a lab where browsers could reach it.
func onTCP(t *testing.T, opts ...faultlab.Option) (*faultlab.Lab, string) {
	t.Helper()
	lab := faultlab.New(opts...)
	server, err := lab.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close(); lab.Close() })
	return lab, server.URL()
}

// answered is an answer but for its body.
type answered struct {
	StatusCode int
	Header     http.Header
}

// call asks with a header and gives the answer and its body.
func call(t *testing.T, method, url, body string, header map[string]string) (answered, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range header {
		r.Header.Set(name, value)
	}
	r.Host = header["Host"]
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answered{resp.StatusCode, resp.Header}, string(got)
}

func TestOtherSitesMayNotAsk(t *testing.T) {
	lab, url := onTCP(t)
	lab.Script("", faultlab.Answer("Hi"))
	here := strings.TrimPrefix(url, "http://")
	port := here[strings.LastIndex(here, ":"):]
	for _, c := range []struct {
		header map[string]string
		want   int
	}{
		{map[string]string{}, 200},
		{map[string]string{"Host": "localhost" + port}, 200},
		{map[string]string{"Host": "LocalHost" + port}, 200},
		{map[string]string{"Host": "127.0.0.1"}, 200},
		{map[string]string{"Host": "127.9.9.9" + port}, 200},
		{map[string]string{"Host": "[::1]" + port}, 200},
		{map[string]string{"Host": "[::1]"}, 200},
		{map[string]string{"Host": "evil.example"}, 403},
		{map[string]string{"Host": "evil.example" + port}, 403},
		{map[string]string{"Host": "localhost." + port}, 403},
		{map[string]string{"Host": "127.0.0.1.nip.io" + port}, 403},
		{map[string]string{"Host": "localhost.evil.example" + port}, 403},
		{map[string]string{"Host": "10.0.0.1" + port}, 403},
		{map[string]string{"Host": "0.0.0.0" + port}, 403},
		{map[string]string{"Host": "[fe80::1]" + port}, 403},
		{map[string]string{"Origin": url}, 200},
		{map[string]string{"Origin": "http://localhost" + port, "Host": "localhost" + port}, 200},
		{map[string]string{"Origin": "https://" + here}, 403},
		{map[string]string{"Origin": "null"}, 403},
		{map[string]string{"Origin": ""}, 403},
		{map[string]string{"Origin": "http://127.0.0.1:1"}, 403},
		{map[string]string{"Origin": "http://localhost" + port}, 403},
		{map[string]string{"Origin": "http://evil.example"}, 403},
		{map[string]string{"Origin": "http://evil.example" + port, "Host": "evil.example" + port}, 403},
		{map[string]string{"Origin": "http://evil.example", "X-Forwarded-Host": "evil.example"}, 403},
		{map[string]string{"Sec-Fetch-Site": "none"}, 200},
		{map[string]string{"Sec-Fetch-Site": "same-origin", "Origin": url}, 200},
		{map[string]string{"Sec-Fetch-Site": "cross-site"}, 403},
		{map[string]string{"Sec-Fetch-Site": "same-site"}, 403},
		{map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}, 403},
	} {
		for _, route := range []struct{ method, path, body string }{
			{"GET", "/", ""},
			{"GET", "/faultlab/page.js", ""},
			{"GET", "/faultlab/requests", ""},
			{"GET", "/faultlab/state", ""},
			{"POST", "/faultlab/script", `{"model":"x","script":"503"}`},
			{"POST", "/faultlab/chaos", `{}`},
			{"POST", sides[0].path, sides[0].whole().ask},
			{"POST", sides[1].path, sides[1].whole().ask},
			{"POST", "/v1/responses", `{"model":"m","input":"hi"}`},
			{"POST", "/v1beta/models/m:generateContent", geminiSide.ask},
		} {
			header := map[string]string{"Content-Type": "application/json", "X-Api-Key": "k", "X-Goog-Api-Key": "k", "Authorization": "Bearer k", "Anthropic-Version": "2023-06-01"}
			for name, value := range c.header {
				header[name] = value
			}
			resp, body := call(t, route.method, url+route.path, route.body, header)
			if resp.StatusCode != c.want {
				t.Errorf("%v: %s %s: status %d, want %d: %.200s", c.header, route.method, route.path, resp.StatusCode, c.want, body)
			}
			if resp.Header.Get("Access-Control-Allow-Origin") != "" {
				t.Errorf("%s allows another origin", route.path)
			}
		}
	}
	for _, r := range lab.Requests() {
		if (r.Status == http.StatusForbidden) != (r.Refused != "") {
			t.Errorf("status %d, refused %q", r.Status, r.Refused)
		}
	}
	link := map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
	if resp, _ := call(t, "GET", url+"/", "", link); resp.StatusCode != http.StatusOK {
		t.Errorf("a link to the page: %d", resp.StatusCode)
	}
	if resp, _ := call(t, "GET", url+"/faultlab/state", "", link); resp.StatusCode != http.StatusForbidden {
		t.Errorf("a link to the state: %d", resp.StatusCode)
	}
	if resp, _ := call(t, "OPTIONS", url+"/faultlab/script", "", nil); resp.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("a preflight: %d", resp.StatusCode)
	}
}

// TestPageIsClosed: the page comes from here alone, runs no code but its own, and sets
// what it is told as text.
func TestPageIsClosed(t *testing.T) {
	_, url := onTCP(t)
	all := ""
	for path, kind := range map[string]string{
		"/": "text/html; charset=utf-8", "/faultlab/page.css": "text/css; charset=utf-8",
		"/faultlab/page.js": "text/javascript; charset=utf-8", "/faultlab/icon.svg": "image/svg+xml",
	} {
		resp, body := call(t, "GET", url+path, "", nil)
		h := resp.Header
		if resp.StatusCode != http.StatusOK || h.Get("Content-Type") != kind || h.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %d %v", path, resp.StatusCode, h)
		}
		for _, want := range []string{"default-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'"} {
			if !strings.Contains(h.Get("Content-Security-Policy"), want) {
				t.Errorf("%s: no %s", path, want)
			}
		}
		if path != "/faultlab/icon.svg" { // its xmlns is a name, not an address
			all += body
		}
	}
	for _, never := range []string{"http://", "https://", "//cdn", " style=", "<style", "onclick=", "onload=", "javascript:", "innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval("} {
		if strings.Contains(all, never) {
			t.Errorf("the page has %s", never)
		}
	}
	if strings.Count(all, "<script") != 1 {
		t.Error("a script that is not page.js")
	}
}

type shownState struct {
	Epoch    string
	Version  uint64
	Asked    int
	Scripts  []struct{ Model string }
	Chaos    *faultlab.Chaos
	Requests []struct {
		Number, Status, BodyBytes int
		Model, Step, Body, Ended  string
		Header                    http.Header
	}
}

func look(t *testing.T, url, since string) (s shownState, raw string) {
	t.Helper()
	resp, raw := call(t, "GET", url+"/faultlab/state?since="+since, "", nil)
	if err := json.Unmarshal([]byte(raw), &s); err != nil || resp.Header.Get("Content-Type") != "application/json" || resp.Header.Get("X-Content-Type-Options") != "nosniff" {
		t.Fatalf("%v %v %s", err, resp.Header, raw)
	}
	return s, raw
}

func TestState(t *testing.T) {
	lab, url := onTCP(t)
	lab.Script("", faultlab.Echo())
	const evil = `<img src=x onerror=alert(1)></script>`
	s := sides[0]
	client := &http.Client{}
	s.hear(t.Context(), client, url, strings.Replace(s.ask, `"m"`, `"`+evil+`"`, 1))
	s.hear(t.Context(), client, url, strings.Replace(s.ask, `"m"`, `"`+strings.Repeat("m", 100_000)+`"`, 1))
	first, raw := look(t, url, "0")
	if strings.Contains(raw, "<") || len(first.Requests) != 2 || first.Requests[0].Model != evil || len(raw) > 4000 {
		t.Errorf("%d bytes: %.2000s", len(raw), raw)
	}
	if q := first.Requests[0]; q.Status != 200 || q.Step != "echo" || q.Number != 1 || q.Body != "" || q.Header != nil || q.BodyBytes == 0 {
		t.Errorf("%+v", q)
	}
	lab.Script("other", faultlab.Hang())
	if err := lab.Chaos(faultlab.Chaos{Rate: 0.5, Seed: 9}); err != nil {
		t.Fatal(err)
	}
	second, _ := look(t, url, jsonOf(first.Version))
	if second.Epoch != first.Epoch || second.Version <= first.Version || len(second.Requests) > 2 || len(second.Scripts) != 2 || second.Chaos == nil || second.Chaos.Seed != 9 {
		t.Errorf("%+v", second)
	}
	third, _ := look(t, url, jsonOf(second.Version))
	if len(third.Requests) != 0 || third.Asked != 2 {
		t.Errorf("%+v", third)
	}
	if _, other := onTCP(t); func() string { s, _ := look(t, other, "0"); return s.Epoch }() == first.Epoch {
		t.Error("two labs cannot be told apart")
	}
	if resp, _ := call(t, "GET", url+"/faultlab/state?since=x", "", nil); resp.StatusCode != http.StatusBadRequest {
		t.Error(resp.StatusCode)
	}
}

func jsonOf(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func TestRequestsAreBounded(t *testing.T) {
	lab, url := onTCP(t)
	lab.Script("", faultlab.Answer("Hi"))
	s, client := sides[0], &http.Client{}
	long := strings.Replace(s.ask, `"hi"`, `"`+strings.Repeat("ä", 50_000)+`"`, 1)
	for range 5 {
		s.hear(t.Context(), client, url, long)
	}
	type shown struct {
		Number, BodyBytes int
		Body              string
		Header            http.Header
	}
	list := func(query string) (got []shown) {
		_, body := call(t, "GET", url+"/faultlab/requests"+query, "", nil)
		if err := json.Unmarshal([]byte(body), &got); err != nil {
			t.Fatalf("%s: %.200s", query, body)
		}
		return got
	}
	for query, want := range map[string][]int{
		"": {1, 2, 3, 4, 5}, "?limit=2": {4, 5}, "?after=2": {3, 4, 5}, "?after=2&limit=2": {3, 4}, "?after=9": {}, "?limit=99999999999": {1, 2, 3, 4, 5},
	} {
		var numbers []int
		for _, q := range list(query) {
			numbers = append(numbers, q.Number)
			if len(q.Body) > 16<<10 || !strings.HasSuffix(q.Body, "ä") || q.BodyBytes != len(long) || q.Header.Get("X-Api-Key") != "[redacted]" {
				t.Errorf("%d bytes of %d, %v", len(q.Body), q.BodyBytes, q.Header)
			}
		}
		if jsonOf(append([]int{}, numbers...)) != jsonOf(want) {
			t.Errorf("%s: %v", query, numbers)
		}
	}
	_, body := call(t, "GET", url+"/faultlab/requests/3", "", nil)
	var one shown
	if err := json.Unmarshal([]byte(body), &one); err != nil || one.Number != 3 || one.Body != long {
		t.Errorf("%v %.200s", err, body)
	}
	for path, want := range map[string]int{
		"/faultlab/requests/0": 404, "/faultlab/requests/6": 404, "/faultlab/requests/-1": 404, "/faultlab/requests/x": 404,
		"/faultlab/requests?limit=0": 400, "/faultlab/requests?after=-1": 400, "/faultlab/requests?limit=1e9": 400,
	} {
		if resp, _ := call(t, "GET", url+path, "", nil); resp.StatusCode != want {
			t.Errorf("%s: %d", path, resp.StatusCode)
		}
	}
}

func TestChaosOrders(t *testing.T) {
	lab, url := onTCP(t)
	order := func(body string) int {
		resp, _ := call(t, "POST", url+"/faultlab/chaos", body, map[string]string{"Content-Type": "application/json"})
		return resp.StatusCode
	}
	for body, want := range map[string]int{
		`{"rate":1,"rows":["A11"]}`: 200, `{"rate":2}`: 400, `{"rows":["Z1"],"rate":1}`: 400, `{"rates":1}`: 400, `{"rate":1}{"rate":1}`: 400,
		`{"rate":1,"rows":[` + strings.TrimSuffix(strings.Repeat(`"A11",`, 300), ",") + `]}`: 400,
	} {
		if got := order(body); got != want {
			t.Errorf("%.60s: status %d", body, got)
		}
	}
	ask(t.Context(), http.DefaultClient, url, "anthropic")
	if list := lab.Requests(); list[0].Step != "row:A11" {
		t.Errorf("%+v", list)
	}
	if got := order(`{}`); got != 200 {
		t.Errorf("status %d", got)
	}
	ask(t.Context(), http.DefaultClient, url, "anthropic")
	if list := lab.Requests(); list[1].Status != 404 {
		t.Errorf("%+v", list[1])
	}
}
