package telemetry_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/mulligan-run/mulligan/telemetry"
)

// asked gives the spans of requests to api, after send has made them.
func asked(t *testing.T, api http.Handler, send func(url string)) *kept {
	t.Helper()
	spans := &kept{}
	told, err := telemetry.New(t.Context(), telemetry.Config{Spans: spans})
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(told.Requests(api))
	defer s.Close()
	send(s.URL)
	s.Close()
	if err := told.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	return spans
}

func request(t *testing.T, method, url, body string, header ...string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		t.Error(err)
	}
	_ = resp.Body.Close()
}

func TestRequestsAreSpans(t *testing.T) {
	const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	var inside []string
	api := http.NewServeMux()
	api.HandleFunc("POST /v1/runs", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		inside = append(inside, r.URL.RequestURI(), string(body), r.Header.Get("X-Own"), fmt.Sprint(err))
		w.Header().Set("Location", "/v1/runs/r1")
		w.WriteHeader(http.StatusCreated)
	})
	api.HandleFunc("GET /v1/runs/{id}", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) })
	for _, path := range []string{"/healthz", "/readyz", "/metrics"} {
		api.HandleFunc("GET "+path, func(http.ResponseWriter, *http.Request) {})
	}
	spans := asked(t, api, func(url string) {
		request(t, "POST", url+"/v1/runs?a=b", "body", "X-Own: yes", "Traceparent: "+parent)
		request(t, "GET", url+"/v1/runs/r2", "")
		request(t, "GET", url+"/v1/else", "")
		for _, path := range []string{"/healthz", "/readyz", "/metrics"} {
			request(t, "GET", url+path, "")
		}
	}).spans
	if got := strings.Join(inside, " "); got != "/v1/runs?a=b body yes <nil>" {
		t.Errorf("the API was asked %q", got)
	}
	var got strings.Builder
	for _, s := range spans {
		fmt.Fprintln(&got, s.Name(), value(s, "http.route"), value(s, "http.response.status_code"), value(s, "mulligan.run.id"), s.Status().Code == codes.Error)
		if s.SpanKind() != trace.SpanKindServer {
			t.Errorf("%s is a span of kind %v", s.Name(), s.SpanKind())
		}
	}
	want := "POST /v1/runs /v1/runs 201 r1 false\nGET /v1/runs/{id} /v1/runs/{id} 500  true\nGET  404  false\n"
	if got.String() != want {
		t.Fatalf("the spans:\n%swant:\n%s", got.String(), want)
	}
	if of := spans[0].Parent(); of.TraceID().String()+"-"+of.SpanID().String() != parent[3:52] {
		t.Errorf("the first one's parent: %v", of)
	}
	if spans[1].Parent().IsValid() {
		t.Error("a request without a traceparent has a parent")
	}
}

// What a request says is in no span of it (S15), nor who a header claims that it is (S09).
func TestS15NothingOfARequestIsShown(t *testing.T) {
	api := http.NewServeMux()
	api.HandleFunc("POST /v1/sessions/{id}", func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(w, r.Body)
		http.Error(w, canary, http.StatusInternalServerError)
	})
	word := strings.ReplaceAll(canary, " ", "-")
	spans := asked(t, api, func(url string) {
		request(t, "POST", url+"/v1/sessions/"+word+"?q="+word, canary, "Authorization: Bearer "+word, "Cookie: mulligan="+word,
			"User-Agent: "+word, "Referer: "+word, "X-Forwarded-For: "+word, "Idempotency-Key: "+word,
			"Traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "Tracestate: it="+word)
		request(t, "POST", url+"/"+word, canary)
	}).spans
	for _, s := range spans {
		said := []string{s.Name(), s.Status().Description, s.SpanContext().TraceState().String()}
		for _, kv := range s.Attributes() {
			said = append(said, string(kv.Key)+"="+kv.Value.String())
		}
		for _, e := range s.Events() {
			said = append(said, e.Name, fmt.Sprint(e.Attributes))
		}
		if all := strings.Join(said, "\n"); strings.Contains(all, canary) || strings.Contains(all, word) {
			t.Errorf("S15: the canary is in the span %s:\n%s", s.Name(), all)
		}
	}
	if len(spans) != 2 {
		t.Errorf("there are %d spans, not 2: this shows little", len(spans))
	}
}

// A stream of events arrives as it is written, and its deadlines can be set.
func TestStreamsFlowThroughRequests(t *testing.T) {
	read := make(chan struct{})
	api := http.NewServeMux()
	api.HandleFunc("GET /v1/runs/{id}/events", func(w http.ResponseWriter, r *http.Request) {
		flow := http.NewResponseController(w)
		if err := flow.SetWriteDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Error(err)
		}
		fmt.Fprintln(w, "one")
		if err := flow.Flush(); err != nil {
			t.Error(err)
		}
		select {
		case <-read:
		case <-r.Context().Done():
			select {
			case <-read: // it hangs up right after that
			default:
				t.Error("the client gave up before the first line came")
			}
		}
	})
	spans := asked(t, api, func(url string) {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/v1/runs/r1/events", nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if line, err := bufio.NewReader(resp.Body).ReadString('\n'); err != nil || line != "one\n" {
			t.Fatalf("%q %v", line, err)
		}
		close(read)
	}).spans
	if len(spans) != 1 || spans[0].Name() != "GET /v1/runs/{id}/events" {
		t.Errorf("the spans: %v", spans)
	}
}
