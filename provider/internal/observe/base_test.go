package observe

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/internal/netguard"

	"github.com/mulligan-run/mulligan/failure"
)

// NewBase takes a client's care over: what may not be connected to is refused when it is.
func TestNewBase(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }))
	defer server.Close()
	for _, wrong := range []string{"http://far.example", "ftp://far.example", "https://169.254.169.254", "https://user@far.example"} {
		if _, _, err := NewBase(Config{BaseURL: wrong}); err == nil {
			t.Errorf("%s is taken", wrong)
		}
	}
	ours, base, err := NewBase(Config{BaseURL: server.URL + "/v1/"})
	if err != nil || base.String() != server.URL+"/v1" {
		t.Fatalf("%v, %v", base, err)
	}
	theirs, _, err := NewBase(Config{BaseURL: "https://far.example"})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		through http.RoundTripper
		refused bool
	}{"this machine": {ours, false}, "a far name that leads to this machine": {theirs, true}} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
		response, err := c.through.RoundTrip(r)
		if err == nil {
			_ = response.Body.Close()
		}
		if _, refused := errors.AsType[*netguard.RefusedAddressError](err); refused != c.refused {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestWatchedBegins has a request of somebody else's client. Comments do not begin an answer.
func TestWatchedBegins(t *testing.T) {
	next := make(chan string, 2)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("X-Request-Id", "req-1")
		for piece := range next {
			_, _ = io.WriteString(w, piece)
			_ = http.NewResponseController(w).Flush()
		}
	}))
	defer server.Close()
	base, _, err := NewBase(Config{BaseURL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	w := Watch(r, "p", &wordDecoder{}, nil)
	w.Named("pi/p/m")
	next <- ": busy\n\n"
	response, err := w.RoundTrip(base, r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	piece := make([]byte, 64)
	if _, err := response.Body.Read(piece); err != nil || !w.FirstEvent().IsZero() || w.Settled() || w.Status() != 200 || w.RequestID() != "req-1" {
		t.Errorf("after a comment: %v, %v, %v, %d, %q", err, w.FirstEvent(), w.Settled(), w.Status(), w.RequestID())
	}
	next <- "data: hello\n\n"
	if _, err := response.Body.Read(piece); err != nil || w.FirstEvent().IsZero() || w.Settled() {
		t.Errorf("after an event: %v, %v, %v", err, w.FirstEvent(), w.Settled())
	}
	close(next)
	_, _ = io.Copy(io.Discard, response.Body)
	if f, ok := failure.AsFailure(w.Err(nil)); !w.Settled() || !ok || f.Model != "pi/p/m" || f.Kind != failure.KindStreamInterrupted {
		t.Errorf("at the end: %v, %+v", w.Settled(), f)
	}
}
