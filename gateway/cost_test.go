package gateway_test

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
)

// hostile are requests that grow with n: whatever a client may repeat.
var hostile = []struct {
	name, method, path string
	body               func(n int) string
}{
	{"unknown keys", "POST", "/v1/runs", func(n int) string { return `{"prompt":"x"` + keys(n) + `}` }},
	{"unknown keys below", "POST", "/v1/runs", func(n int) string { return `{"prompt":"x","budget":{"tokens":1` + keys(n) + `}}` }},
	{"unknown keys with a long one", "POST", "/v1/runs", func(n int) string {
		return `{"prompt":"x","` + strings.Repeat("k", 8*n) + `":1` + keys(n) + `}`
	}},
	{"keys with dots", "POST", "/v1/runs", func(n int) string {
		return `{"prompt":"x","timeouts":{"a":"x"` + strings.ReplaceAll(keys(n), "key", "a.b.c.") + `}}`
	}},
	{"timers that are none", "POST", "/v1/runs", func(n int) string { return `{"prompt":"x","timeouts":{"idle":1000` + keys(n) + `}}` }},
	{"items of a wrong type", "POST", "/v1/runs", func(n int) string { return `{"prompt":"x","fallbacks":[1` + strings.Repeat(",1", n) + `]}` }},
	{"messages that are none", "POST", "/v1/runs", func(n int) string { return `{"messages":[1` + strings.Repeat(`,{"a":1}`, n) + `]}` }},
	{"messages without anything", "POST", "/v1/runs", func(n int) string { return `{"messages":[{}` + strings.Repeat(`,{}`, n) + `]}` }},
	{"parts", "POST", "/v1/runs", func(n int) string {
		return `{"messages":[{"role":"user","parts":[{}` + strings.Repeat(`,{"text":1}`, n) + `]}]}`
	}},
	{"a long value of a wrong type", "POST", "/v1/runs", func(n int) string { return `{"maxRetries":"` + strings.Repeat("x", 8*n) + `"}` }},
	{"a long model", "POST", "/v1/runs", func(n int) string { return `{"prompt":"x","model":"` + strings.Repeat("x", 8*n) + `"}` }},
	{"an array for all", "POST", "/v1/runs", func(n int) string { return `[1` + strings.Repeat(`,1`, n) + `]` }},
	{"arguments", "POST", "/v1/runs", func(n int) string {
		return `{"messages":[{"role":"assistant","parts":[{"call":{"id":"1","name":"n","args":{"a":1` + keys(n) + `}}}]}]}`
	}},
	{"no JSON", "POST", "/v1/runs", func(n int) string { return `{"prompt":"` + strings.Repeat("x", 8*n) }},
	{"a good run", "POST", "/v1/runs", func(n int) string { return `{"prompt":"` + strings.Repeat("x", 8*n) + `"}` }},
	{"unknown keys of an answer", "POST", "/v1/runs/r1/recover", func(n int) string { return `{"action":"a1"` + keys(n) + `}` }},
	{"unknown keys of a session", "PUT", "/v1/sessions/s", func(n int) string { return `{"model":""` + keys(n) + `}` }},
	{"a body where none is read", "POST", "/v1/runs/r1/cancel", func(n int) string { return `{"a":1` + keys(n) + `}` }},
}

func keys(n int) string {
	var s strings.Builder
	for i := range n {
		fmt.Fprintf(&s, `,"key%d":1`, i)
	}
	return s.String()
}

// TestS12InputOfTwiceTheSizeCostsTwice: what a request costs grows with its size and no faster,
// and what it is answered does not grow at all.
func TestS12InputOfTwiceTheSizeCostsTwice(t *testing.T) {
	const n = 1000
	g := guard(t, nil)
	for _, c := range hostile {
		t.Run(c.name, func(t *testing.T) {
			g.allocated(c.method, c.path, c.body(n)) // what is made once
			small, answer := g.allocated(c.method, c.path, c.body(n))
			large, _ := g.allocated(c.method, c.path, c.body(2*n))
			if large > 3*small {
				t.Errorf("%d bytes were allocated for n, %d for 2n", small, large)
			}
			if answer.Code >= http.StatusBadRequest {
				boundedProblem(t, answer)
			}
		})
	}
}

// allocated makes a request three times and says how many bytes were allocated for it at the
// least: others of the process take memory as well, and what is kept for reuse may be gone.
func (g *guarded) allocated(method, path, body string) (least uint64, answer *httptest.ResponseRecorder) {
	g.t.Helper()
	least = math.MaxUint64
	for range 3 {
		taken, w := g.allocatedOnce(method, path, body)
		least, answer = min(least, taken), w
	}
	return least, answer
}

func (g *guarded) allocatedOnce(method, path, body string) (uint64, *httptest.ResponseRecorder) {
	r := httptest.NewRequestWithContext(g.t.Context(), method, path, strings.NewReader(body))
	r.Host = "localhost"
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+g.token)
	w := httptest.NewRecorder()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	g.Config.Handler.ServeHTTP(w, r)
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc, w
}

// boundedProblem holds an answer to the bounds that every problem has.
func boundedProblem(t *testing.T, w *httptest.ResponseRecorder) {
	t.Helper()
	if w.Body.Len() > 16<<10 {
		t.Errorf("the answer has %d bytes", w.Body.Len())
	}
	var said struct {
		Detail string
		Errors []struct {
			Message, Location string
			Value             json.RawMessage
		}
	}
	if err := json.Unmarshal(w.Body.Bytes(), &said); err != nil || said.Detail == "" {
		t.Fatalf("%d %.300s: %v", w.Code, w.Body, err)
	}
	if len(said.Errors) > 10 {
		t.Errorf("it lists %d faults", len(said.Errors))
	}
	for _, e := range said.Errors {
		if len(e.Value) > 128 || len(e.Location) > 128 || len(e.Message) > 512 {
			t.Errorf("it echoes too much: %+.300v", e)
		}
	}
}

// TestS12AProblemOfAnAddressIsBounded: what stands in the path, the query and the headers is
// answered as shortly as what stands in a body.
func TestS12AProblemOfAnAddressIsBounded(t *testing.T) {
	g := guard(t, nil)
	for _, path := range []string{
		"/v1/runs?limit=" + strings.Repeat("9", 7000),
		"/v1/runs?status=" + strings.Repeat("x", 7000),
		"/v1/runs?a" + strings.Repeat("&a", 3000) + strings.ReplaceAll(keys(200), ",", "&"),
		"/v1/runs?" + strings.Repeat("x", 7000) + "=1",
		"/v1/runs/" + strings.Repeat("x", 7000),
		"/v1/sessions/" + strings.Repeat("%20", 2000),
	} {
		_, answer := g.allocated("GET", path, "")
		if answer.Code < http.StatusBadRequest {
			t.Errorf("%.30s: %d", path, answer.Code)
		}
		boundedProblem(t, answer)
	}
}
