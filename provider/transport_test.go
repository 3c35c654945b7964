package provider_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/provider"
)

const wholeChat = "data: " + chunk + "\n\ndata: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"

// watch makes a client whose requests are watched, on the wire of Chat Completions.
func watch(t *testing.T, secrets ...string) *http.Client {
	t.Helper()
	transport, err := provider.NewTransport(provider.TransportConfig{Name: "mine", Type: "openrouter", Secrets: secrets})
	if err != nil {
		t.Fatal(err)
	}
	return &http.Client{Transport: transport}
}

// post asks for a stream, as a client library does.
func post(ctx context.Context, t *testing.T, client *http.Client, url string) (*http.Response, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(`{"model":"m","stream":true}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+key)
	return client.Do(r)
}

func TestTransportPassesBytesOn(t *testing.T) {
	const first = ": hello\r\n\r\n"
	sent, heard := make(chan bool), make(chan bool)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, first)
		_ = http.NewResponseController(w).Flush()
		close(sent)
		<-heard // the beginning is there before the rest is written
		_, _ = io.WriteString(w, wholeChat+"and more")
	}))
	defer server.Close()
	ctx, call := provider.Watch(t.Context())
	before := time.Now()
	response, err := post(ctx, t, watch(t), server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	<-sent
	head := make([]byte, len(first))
	if _, err := io.ReadFull(response.Body, head); err != nil || string(head) != first {
		t.Fatalf("%q, %v", head, err)
	}
	began := call.LastProgress()
	close(heard)
	rest, err := io.ReadAll(response.Body)
	if err != nil || string(rest) != wholeChat+"and more" {
		t.Errorf("%q, %v", rest, err)
	}
	if err := call.Err(nil); err != nil {
		t.Error(err)
	}
	if call.FirstByte().Before(before) || began != call.FirstByte() || !call.LastProgress().After(began) {
		t.Errorf("first byte %v, progress %v and %v", call.FirstByte(), began, call.LastProgress())
	}
}

// verdict reads an answer as far as it goes.
func verdict(ctx context.Context, t *testing.T, client *http.Client, url string) (*failure.Failure, error) {
	t.Helper()
	ctx, call := provider.Watch(ctx)
	response, err := post(ctx, t, client, url)
	if err == nil {
		_, err = io.Copy(io.Discard, response.Body)
		response.Body.Close()
	}
	f, _ := failure.AsFailure(call.Err(nil))
	return f, err
}

// TestTransportUnpacks: the answer of a client that asks for gzip by itself is read, too.
func TestTransportUnpacks(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			t.Error("no gzip was asked for")
		}
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("Content-Encoding", "gzip")
		packed := gzip.NewWriter(w)
		_, _ = io.WriteString(packed, wholeChat)
		_ = packed.Close()
	}))
	defer server.Close()
	ctx, call := provider.Watch(t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL, strings.NewReader(`{"stream":true}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept-Encoding", "gzip, br")
	response, err := watch(t).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if body, err := io.ReadAll(response.Body); string(body) != wholeChat || err != nil {
		t.Errorf("%q, %v", body, err)
	}
	if err := call.Err(nil); err != nil {
		t.Error(err)
	}
}

func TestTransportHidesSecrets(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Request-Id", r.Header.Get("Authorization"))
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, `{"error":{"message":`+quote("bad key "+r.Header.Get("Authorization")+" and my-own-secret")+`}}`)
	}))
	defer server.Close()
	f, _ := verdict(t.Context(), t, watch(t, "my-own-secret"), server.URL)
	if f == nil || f.Kind != failure.KindAuth || f.Provider != "mine" || f.Model != "mine/m" {
		t.Fatalf("%+v", f)
	}
	for _, part := range []string{"test-key", "odd", "my-own"} {
		if strings.Contains(f.Error()+f.Detail+f.RequestID, part) {
			t.Errorf("%s in %s %s", part, f.Error(), f.RequestID)
		}
	}
}

func quote(text string) string { return `"` + strings.ReplaceAll(text, `"`, `\"`) + `"` }

func TestTransportLimits(t *testing.T) {
	block := append(bytes.Repeat([]byte(": keep-alive\n"), 5000), '\n')
	for name, c := range map[string]struct {
		kind string
		head string
		body []byte
	}{
		"answer":   {"text/event-stream", "", block},
		"document": {"application/json", `{"a":"`, block},
		"line":     {"text/event-stream", "data: ", bytes.Repeat([]byte("x"), len(block))},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", c.kind)
			_, err := io.WriteString(w, c.head)
			for err == nil { // for ever
				_, err = w.Write(c.body)
			}
		}))
		f, err := verdict(t.Context(), t, watch(t), server.URL)
		if err == nil || f == nil || f.Kind != failure.KindMalformedResponse {
			t.Errorf("%s: the reader got %v, the verdict is %+v", name, err, f)
		}
		server.Close()
	}
}

func TestTransportAttempts(t *testing.T) {
	n := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if n++; n == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, wholeChat)
	}))
	defer server.Close()
	client := watch(t)
	ctx, call := provider.Watch(t.Context())
	for range 2 { // as a library that retries by itself
		response, err := post(ctx, t, client, server.URL)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, response.Body)
		response.Body.Close()
	}
	if err := call.Err(nil); err != nil || call.Attempts() != 2 {
		t.Errorf("%v after %d attempts", err, call.Attempts())
	}
	_, other := provider.Watch(t.Context())
	if other.Attempts() != 0 || !other.FirstByte().IsZero() || !other.LastProgress().IsZero() {
		t.Error("a call without a request has had one")
	}
	if f, _ := failure.AsFailure(other.Err(nil)); f == nil || f.Kind != failure.KindPromptFailure {
		t.Errorf("a call without a request: %v", f)
	}
}

func TestTransportWithoutACall(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "plain") }))
	defer server.Close()
	response, err := post(t.Context(), t, watch(t), server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if body, err := io.ReadAll(response.Body); string(body) != "plain" || err != nil {
		t.Errorf("%q, %v", body, err)
	}
}

// TestTransportUnread has answers whose end the client did not wait for.
func TestTransportUnread(t *testing.T) {
	over := make(chan bool)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, strings.TrimSuffix(wholeChat, r.URL.Query().Get("without")))
		_ = http.NewResponseController(w).Flush()
		<-over
	}))
	defer server.Close()
	defer close(over)
	lost := errors.New("the library cannot read this")
	for without, c := range map[string]struct {
		sdk  error
		want failure.Kind
	}{
		"":                 {nil, ""},
		"data: [DONE]\n\n": {nil, ""}, // the reason was there
		strings.SplitAfter(wholeChat, "\n\n")[1] + "data: [DONE]\n\n": {nil, failure.KindStreamInterrupted},
		"\n\n": {lost, failure.KindMalformedResponse},
	} {
		ctx, call := provider.Watch(t.Context())
		address := server.URL + "?without=" + strings.NewReplacer("\n", "%0A", " ", "%20", "{", "%7B", "}", "%7D", "\"", "%22").Replace(without)
		response, err := post(ctx, t, watch(t), address)
		if err != nil {
			t.Fatal(err)
		}
		body := make([]byte, len(wholeChat)-len(without))
		if _, err := io.ReadFull(response.Body, body); err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		err = call.Err(c.sdk)
		if f, _ := failure.AsFailure(err); c.want == "" && err != nil || c.want != "" && (f == nil || f.Kind != c.want) {
			t.Errorf("without %q: %v", without, err)
		}
	}
}

// TestTransportTimeout: the client's own limit is a timeout, the caller's
// cancellation is no failure.
func TestTransportTimeout(t *testing.T) {
	over := make(chan bool)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/begin" {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "data: "+chunk+"\n\n")
			_ = http.NewResponseController(w).Flush()
		}
		<-over
	}))
	defer server.Close()
	defer close(over)
	client := watch(t)
	client.Timeout = 100 * time.Millisecond
	for path, phase := range map[string]failure.Phase{"": failure.PhaseBeforeFirstEvent, "/begin": failure.PhaseMidStream} {
		if f, _ := verdict(t.Context(), t, client, server.URL+path); f == nil || f.Kind != failure.KindTimeout || f.Phase != phase {
			t.Errorf("%s: %+v", path, f)
		}
	}
	why := errors.New("enough")
	for name, outside := range map[string]bool{"outside the call": true, "within it": false} {
		ctx, cancel := context.WithCancelCause(t.Context())
		ctx, call := provider.Watch(ctx)
		if !outside {
			ctx, cancel = context.WithCancelCause(ctx)
		}
		time.AfterFunc(20*time.Millisecond, func() { cancel(why) })
		response, err := post(ctx, t, watch(t), server.URL)
		if err == nil {
			response.Body.Close()
			t.Fatal("there was an answer")
		}
		if err := call.Err(nil); err != why { //nolint:errorlint // unwrapped is the promise
			t.Errorf("cancelled %s: %v", name, err)
		}
	}
}

func TestTransportUnreachable(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	if f, _ := verdict(t.Context(), t, watch(t), server.URL); f == nil || f.Kind != failure.KindUnreachable || f.Phase != failure.PhaseBeforeConnect {
		t.Errorf("%+v", f)
	}
	if _, err := provider.NewTransport(provider.TransportConfig{Type: "soap"}); err == nil || !strings.Contains(err.Error(), "openrouter") {
		t.Error(err)
	}
}

// TestTransportOtherAnswers has what a client may ask for beside conversations.
func TestTransportOtherAnswers(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", r.URL.Query().Get("kind"))
		_, _ = io.WriteString(w, r.URL.Query().Get("body"))
	}))
	defer server.Close()
	for address, want := range map[string]failure.Kind{
		"?kind=audio/mpeg&body=sound":                         "",
		"?kind=audio/mpeg":                                    failure.KindEmptyResponse,
		"?kind=application/json&body={\"data\":[]}":           "",
		"?kind=application/json&body={\"data\":":              failure.KindMalformedResponse,
		"?kind=text/html&body=<html>Please%20log%20in</html>": failure.KindUnreachable,
	} {
		ctx, call := provider.Watch(t.Context())
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+"/v1/models"+address, nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := watch(t).Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, response.Body)
		response.Body.Close()
		err = call.Err(nil)
		if f, _ := failure.AsFailure(err); want == "" && err != nil || want != "" && (f == nil || f.Kind != want) {
			t.Errorf("%s: %v", address, err)
		}
	}
}
