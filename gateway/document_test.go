package gateway

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"github.com/mulligan-run/mulligan/advice"
	"github.com/mulligan-run/mulligan/timeline"
)

// listing is a mux that tells what it routes.
type listing struct {
	*http.ServeMux
	routes []string
}

func (l *listing) HandleFunc(pattern string, handler func(http.ResponseWriter, *http.Request)) {
	l.routes = append(l.routes, pattern)
	l.ServeMux.HandleFunc(pattern, handler)
}

func noResults(context.Context, string, []CallResult) error { return nil }

func documented(t *testing.T) (*Gateway, []string) {
	t.Helper()
	mux := &listing{ServeMux: http.NewServeMux()}
	return newOn(mux, Config{Log: timeline.NewMemory(), Metrics: http.NotFoundHandler(), Advice: &advice.Desk{}, ToolResults: noResults}), mux.routes
}

// TestTheDocumentHasEveryRoute: nothing is served that it does not have, and it has nothing
// that is not served.
func TestTheDocumentHasEveryRoute(t *testing.T) {
	g, served := documented(t)
	served = append(served, "POST "+loginPath, "POST "+logoutPath)
	var written []string
	for _, op := range operations(g.api.OpenAPI()) {
		written = append(written, op.Method+" "+op.Path)
	}
	slices.Sort(served)
	slices.Sort(written)
	if !slices.Equal(served, written) {
		t.Errorf("served:\n%s\n\nin the document:\n%s", strings.Join(served, "\n"), strings.Join(written, "\n"))
	}
}

// TestProblemsNameRunsByTheirPath: what a problem is about is a path of this API, as its schema says.
func TestProblemsNameRunsByTheirPath(t *testing.T) {
	g, _ := documented(t)
	problem := g.api.OpenAPI().Components.Schemas.Map()["ErrorModel"].Properties
	for _, name := range []string{"type", "instance"} {
		if got := problem[name].Format; got != "uri-reference" {
			t.Errorf("%s is a %s", name, got)
		}
	}
}

// TestTheDocumentSaysWhoMayAsk: the operations that it marks as open are those that a Guard lets
// strangers ask for, and the Guard treats all others as the API's.
func TestTheDocumentSaysWhoMayAsk(t *testing.T) {
	g, _ := documented(t)
	page := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it went to the page") })
	guard, err := NewGuard(GuardConfig{Token: func(Digest) (bool, error) { return false, nil }}, g, page)
	if err != nil {
		t.Fatal(err)
	}
	for _, op := range operations(g.api.OpenAPI()) {
		r := httptest.NewRequestWithContext(t.Context(), op.Method, strings.ReplaceAll(op.Path, "{id}", "r1"), nil)
		r.Host = "localhost"
		w := httptest.NewRecorder()
		guard.ServeHTTP(w, r)
		open := op.Security != nil && len(op.Security) == 0
		if refused := w.Code == http.StatusUnauthorized; refused == open {
			t.Errorf("%s %s: %d %s", op.Method, op.Path, w.Code, w.Body)
		}
	}
}

func TestTheDocumentsExamples(t *testing.T) {
	g, _ := documented(t)
	doc := g.api.OpenAPI()
	used := map[string]bool{}
	check := func(op *huma.Operation, what string, content map[string]*huma.MediaType, mode huma.ValidateMode) {
		for kind, media := range content {
			if media.Schema == nil || strings.Contains(kind, "problem") {
				continue
			}
			used[op.OperationID] = true
			data, err := json.Marshal(media.Example)
			if err != nil || media.Example == nil {
				t.Errorf("%s: its %s has no example: %v", op.OperationID, what, err)
				continue
			}
			var value any
			if err := json.Unmarshal(data, &value); err != nil {
				t.Fatal(err)
			}
			result := &huma.ValidateResult{}
			huma.Validate(doc.Components.Schemas, media.Schema, huma.NewPathBuffer(nil, 0), mode, value, result)
			for _, err := range result.Errors {
				t.Errorf("%s: the example of its %s is none: %v", op.OperationID, what, err)
			}
		}
	}
	for _, op := range operations(doc) {
		if op.RequestBody != nil {
			check(op, "request", op.RequestBody.Content, huma.ModeWriteToServer)
		}
		for _, response := range op.Responses {
			check(op, "answer", response.Content, huma.ModeReadFromServer)
		}
	}
	for id := range examples {
		if !used[id] {
			t.Errorf("there is an example of %s, which is no operation", id)
		}
	}
}

// TestTheDocumentInEveryForm: clients that ask at once all get it whole.
func TestTheDocumentInEveryForm(t *testing.T) {
	g, _ := documented(t)
	for _, at := range documentPaths {
		got := make(chan []byte)
		for range 2 {
			go func() {
				w := httptest.NewRecorder()
				g.ServeHTTP(w, httptest.NewRequest(http.MethodGet, at.path, nil))
				got <- w.Body.Bytes()
			}()
		}
		if one, other := <-got, <-got; !bytes.Contains(one, []byte(loginPath)) || !bytes.Equal(one, other) {
			t.Errorf("%s: %.200s", at.path, one)
		}
	}
}

// TestNoRouteIsAProblem: what the API does not have is answered like everything that is wrong.
func TestNoRouteIsAProblem(t *testing.T) {
	g, _ := documented(t)
	for _, c := range []struct {
		method, path string
		code         int
		allow        string
	}{
		{http.MethodGet, "/v1/nothing", http.StatusNotFound, ""},
		{http.MethodDelete, "/v1/runs/r1", http.StatusMethodNotAllowed, "GET, HEAD"},
		{http.MethodGet, "/v1//nothing", http.StatusNotFound, ""},
	} {
		w := httptest.NewRecorder()
		g.ServeHTTP(w, httptest.NewRequest(c.method, c.path, nil))
		if to := w.Header().Get("Location"); to != "" {
			w = httptest.NewRecorder()
			g.ServeHTTP(w, httptest.NewRequest(c.method, to, nil))
		}
		var said huma.ErrorModel
		if err := json.Unmarshal(w.Body.Bytes(), &said); err != nil || said.Status != c.code || w.Code != c.code || said.Detail == "" ||
			w.Header().Get("Allow") != c.allow || w.Header().Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s %s: %d %v %s %v", c.method, c.path, w.Code, w.Header(), w.Body, err)
		}
	}
}

// TestTheMethodsOfEveryPath: who asks by another method is told the path's own.
func TestTheMethodsOfEveryPath(t *testing.T) {
	g, _ := documented(t)
	guard, err := NewGuard(GuardConfig{Token: func(Digest) (bool, error) { return true, nil }}, g, nil)
	if err != nil {
		t.Fatal(err)
	}
	for path, item := range g.api.OpenAPI().Paths {
		var want []string
		if item.Delete != nil {
			want = append(want, "DELETE")
		}
		if item.Get != nil {
			want = append(want, "GET, HEAD")
		}
		if item.Post != nil {
			want = append(want, "POST")
		}
		if item.Put != nil {
			want = append(want, "PUT")
		}
		for _, method := range []string{http.MethodOptions, http.MethodPatch, http.MethodTrace} {
			r := httptest.NewRequestWithContext(t.Context(), method, strings.ReplaceAll(path, "{id}", "r1"), nil)
			r.Host = "localhost"
			r.Header.Set("Authorization", "Bearer x")
			w := httptest.NewRecorder()
			guard.ServeHTTP(w, r)
			if allow := w.Header().Get("Allow"); w.Code != http.StatusMethodNotAllowed || allow != strings.Join(want, ", ") {
				t.Errorf("%s %s: %d, Allow: %s", method, path, w.Code, allow)
			}
		}
	}
}

// TestTheDocumentInGzip: who accepts gzip gets it in a tenth of the size, and everybody else as it
// is.
func TestTheDocumentInGzip(t *testing.T) {
	g, _ := documented(t)
	ask := func(accept string) (string, []byte) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/openapi.json", nil)
		r.Header.Set("Accept-Encoding", accept)
		w := httptest.NewRecorder()
		g.ServeHTTP(w, r)
		if vary := w.Header().Get("Vary"); vary != "Accept-Encoding" {
			t.Errorf("Vary: %s", vary)
		}
		return w.Header().Get("Content-Encoding"), w.Body.Bytes()
	}
	_, plain := ask("")
	for accept, want := range map[string]string{
		"gzip": "gzip", "gzip, deflate, br, zstd": "gzip", "br": "", "identity": "", "gzip;q=0": "", "gzip;q=0, identity": "", "identity;q=0.5, gzip": "gzip",
	} {
		encoding, body := ask(accept)
		if encoding != want {
			t.Errorf("%s: %s", accept, encoding)
			continue
		}
		if encoding == "gzip" {
			z, err := gzip.NewReader(bytes.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			if body, err = io.ReadAll(z); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(body, plain) {
			t.Errorf("%s: another document", accept)
		}
	}
}
