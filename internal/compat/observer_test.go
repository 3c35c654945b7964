package compat

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/provider"
)

// fault is one outcome of a call, good or bad.
type fault struct {
	name  string
	serve func(s sdk, w http.ResponseWriter, r *http.Request)
	kind  failure.Kind // the true kind; "" = success
	says  [4]string    // the error of each SDK
}

// faults lists the SDKs' errors beside the true kinds, so that an update of an SDK that changes
// them is noticed.
var faults = []fault{
	{"good", stream(func(s sdk) string { return s.begin + s.end }), "", said("nil")},
	{"comments", stream(func(s sdk) string { return ": PROCESSING\n\n" + s.begin + ": keep-alive\n\n" + s.end }), "", said("nil", "nil", "nil", "invalid chunk")},
	{"pings", stream(func(s sdk) string { return s.begin + "event: ping\ndata: {\"type\":\"ping\"}\n\n" + s.end }), "", said("nil", "nil", "nil", "invalid chunk")},
	{"error event", stream(func(s sdk) string { return s.begin + s.failed }), failure.KindOverloaded, said("api 200", "stream error", "nil", "api 503")},
	{"clean end", stream(func(s sdk) string { return s.begin }), failure.KindStreamInterrupted, said("nil")},
	{"empty", stream(func(sdk) string { return "" }), failure.KindEmptyResponse, said("nil")},
	{"reset", reset, failure.KindStreamInterrupted, said("network")},
	{"malformed", stream(func(s sdk) string { return s.begin + "data: {\"half\n\n" + s.end }), failure.KindMalformedResponse, said("nil", "syntax", "syntax", "syntax")},
	{"malformed, named", stream(func(s sdk) string { return s.begin + "event: content_block_delta\ndata: {\"half\n\n" + s.end }), failure.KindMalformedResponse, said("syntax", "syntax", "syntax", "invalid chunk")},
	{"HTML 502", answer(502, "text/html", "<html><h1>502 Bad Gateway</h1></html>"), failure.KindUnavailable, said("api 502")},
	{"JSON 429", refuse(429), failure.KindRateLimit, said("api 429")},
	{"529 that says 429", refuse(529), failure.KindRateLimit, said("api 529", "api 529", "api 529", "api 429")},
	{"200 HTML", answer(200, "text/html", "<html>Please log in to Hotel WiFi</html>"), failure.KindUnreachable, said("nil", "nil", "nil", "invalid chunk")},
	{"200 JSON error", answer(200, "application/json", `{"error":{"message":"upstream unavailable","type":"server_error","code":502}}`), failure.KindUnavailable, said("nil", "nil", "nil", "api 502")},
	{"200 document", answer(200, "application/json", `{"id":"msg_1","content":[]}`), failure.KindMalformedResponse, said("nil", "nil", "nil", "invalid chunk")},
	{"a line of 5 MiB", stream(func(s sdk) string { return s.begin + "data: " + strings.Repeat("x", 5<<20) + "\n\n" }), failure.KindMalformedResponse, said(anyError)},
}

// anyError is any error, for errors that depend on how the bytes arrive.
const anyError = "any error"

func (f fault) pinned(i int, got string) bool {
	return f.says[i] == got || f.says[i] == anyError && got != "nil"
}

func said(words ...string) [4]string {
	if len(words) == 1 {
		return [4]string{words[0], words[0], words[0], words[0]}
	}
	return [4]string(words)
}

func stream(body func(s sdk) string) func(sdk, http.ResponseWriter, *http.Request) {
	return func(s sdk, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("X-Request-Id", "req_1")
		_, _ = io.WriteString(w, body(s))
	}
}

func answer(status int, kind, body string) func(sdk, http.ResponseWriter, *http.Request) {
	return func(_ sdk, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.Header().Set("X-Request-Id", "req_1")
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func refuse(status int) func(sdk, http.ResponseWriter, *http.Request) {
	return func(s sdk, w http.ResponseWriter, r *http.Request) {
		answer(status, "application/json", s.refusal)(s, w, r)
	}
}

func reset(s sdk, w http.ResponseWriter, r *http.Request) {
	stream(func(s sdk) string { return s.begin })(s, w, r)
	_ = http.NewResponseController(w).Flush()
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err)
	}
	_ = conn.(*net.TCPConn).SetLinger(0)
	conn.Close()
}

// TestObserver observes the SDKs' calls with every outcome.
func TestObserver(t *testing.T) {
	for _, f := range faults {
		for i, s := range sdks {
			t.Run(f.name+"/"+s.wire, func(t *testing.T) {
				server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { f.serve(s, w, r) }))
				defer server.Close()
				ctx, call := provider.Watch(t.Context())
				var text strings.Builder
				err := s.ask(ctx, client(t, s), server.URL, func(piece string) { text.WriteString(piece) })
				if got := says(err); !f.pinned(i, got) {
					t.Errorf("the SDK says %q, not %q", got, f.says[i])
				}
				checkVerdict(t, f, s, call, err)
				if call.Attempts() != 1 {
					t.Errorf("%d attempts", call.Attempts())
				}
				if f.kind == "" && f.says[i] == "nil" && text.String() != someText {
					t.Errorf("heard %q", text.String())
				}
			})
		}
	}
}

func checkVerdict(t *testing.T, f fault, s sdk, call *provider.Call, sdkErr error) {
	t.Helper()
	err := call.Err(sdkErr)
	if f.kind == "" && sdkErr == nil {
		if err != nil || call.FirstByte().IsZero() || call.LastProgress().Before(call.FirstByte()) {
			t.Errorf("a good answer: %v", err)
		}
		return
	}
	want := f.kind
	if want == "" {
		want = failure.KindMalformedResponse // the SDK cannot read an answer that is valid
	}
	got, ok := failure.AsFailure(err)
	if !ok || got.Kind != want || got.Provider != s.wire || got.Model != s.wire+"/m" || got.RequestID == "" && got.HTTPStatus != 0 {
		t.Fatalf("%v: %+v", err, got)
	}
	if got.Kind == failure.KindRateLimit && got.RetryAfter != 7000 {
		t.Errorf("retry after %d ms", got.RetryAfter)
	}
}

// TestSDKsWithoutObserver: the observing transport does not change an SDK's errors.
func TestSDKsWithoutObserver(t *testing.T) {
	for _, f := range faults {
		for i, s := range sdks {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { f.serve(s, w, r) }))
			err := s.ask(t.Context(), &http.Client{}, server.URL, func(string) {})
			if got := says(err); got != f.says[i] && f.says[i] != anyError {
				t.Errorf("%s, %s: the SDK says %q, not %q", f.name, s.wire, got, f.says[i])
			}
			server.Close()
		}
	}
}

// TestMain silences genai's log.
func TestMain(m *testing.M) {
	log.SetOutput(io.Discard)
	m.Run()
}

func TestObserverCancel(t *testing.T) {
	why := errors.New("enough of that")
	for _, s := range sdks {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			stream(func(s sdk) string { return s.begin })(s, w, r)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}))
		ctx, cancel := context.WithCancelCause(t.Context())
		ctx, call := provider.Watch(ctx)
		err := s.ask(ctx, client(t, s), server.URL, func(piece string) {
			if piece != "" {
				cancel(why)
			}
		})
		if !errors.Is(err, why) {
			t.Errorf("%s: the SDK says %v", s.wire, err)
		}
		if err := call.Err(err); err != why { //nolint:errorlint // unwrapped is the promise
			t.Errorf("%s: %v", s.wire, err)
		}
		server.Close()
	}
}

// TestObserverRedirect: neither the key nor the prompt reaches another host. Without the observer
// two of the SDKs send them there.
func TestObserverRedirect(t *testing.T) {
	follows := map[string]bool{provider.TypeAnthropic: true, provider.TypeGemini: true}
	for _, s := range sdks {
		reached := 0
		evil := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached++ }))
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, evil.URL+r.URL.Path, http.StatusTemporaryRedirect)
		}))
		ctx, call := provider.Watch(t.Context())
		err := s.ask(ctx, client(t, s), server.URL, func(string) {})
		if f, _ := failure.AsFailure(call.Err(err)); f == nil || f.Kind != failure.KindMisconfigured || f.HTTPStatus != 307 || reached != 0 {
			t.Errorf("%s: %v, reached %d times", s.wire, call.Err(err), reached)
		}
		if call.Attempts() != 1 || err == nil {
			t.Errorf("%s: %d attempts, the SDK says %v", s.wire, call.Attempts(), err)
		}
		_ = s.ask(t.Context(), &http.Client{}, server.URL, func(string) {})
		if (reached > 0) != follows[s.wire] {
			t.Errorf("%s by itself: reached %d times", s.wire, reached)
		}
		evil.Close()
		server.Close()
	}
}

// TestObserverDocuments has answers that are not streams.
func TestObserverDocuments(t *testing.T) {
	for _, s := range sdks {
		for name, c := range map[string]struct {
			body string
			kind failure.Kind
		}{
			"whole": {s.document, ""},
			"cut":   {s.document[:len(s.document)-2], failure.KindMalformedResponse},
			"error": {`{"error":{"message":"upstream unavailable","type":"server_error","code":502}}`, failure.KindUnavailable},
			"empty": {"", failure.KindEmptyResponse},
		} {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				answer(200, "application/json", c.body)(s, w, r)
			}))
			ctx, call := provider.Watch(t.Context())
			text, err := s.whole(ctx, client(t, s), server.URL)
			if c.kind == "" {
				if err := call.Err(err); err != nil || text != someText {
					t.Errorf("%s: %q, %v", s.wire, text, err)
				}
			} else if f, _ := failure.AsFailure(call.Err(err)); f == nil || f.Kind != c.kind {
				t.Errorf("%s, %s: %v (the SDK says %v)", s.wire, name, call.Err(err), err)
			}
			server.Close()
		}
	}
}
