package provider_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/llm"
)

// TestNothingWasSent: a call that reached nobody has no headers.
func TestNothingWasSent(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	s := set(t, server.URL)
	server.Close()
	for _, wire := range wires {
		request := ask(wire)
		request.OnHeaders = func(h llm.Headers) { t.Errorf("%s: %+v", wire, h) }
		if _, err := hear(t.Context(), t, s, request); err == nil {
			t.Errorf("%s: it was answered", wire)
		}
	}
}

// TestHeadersOfACall: on each wire the headers are reported of a call that is refused, and of one
// that is given up although nothing came after them; the header that holds the key is named without
// its value.
func TestHeadersOfACall(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", "7")
		w.Header().Set("X-Request-Id", "of "+key)
		w.Header().Set("X-"+strings.ReplaceAll(key, `"`, ""), "1")
		if r.Header.Get("User-Agent") != "silent" {
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, ": nothing\n\n")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	for _, wire := range wires {
		for _, silent := range []bool{false, true} {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			request := ask(wire)
			var told []llm.Headers
			request.OnHeaders = func(h llm.Headers) { told = append(told, h) }
			if silent {
				request.Native = &llm.Native{Wire: wire, Body: []byte(nativeBody[wire][0]), Header: http.Header{"User-Agent": {"silent"}, "X-Own": {"words"}}, Stream: true}
			}
			model, err := s.Model(request.Model)
			if err != nil {
				t.Fatal(err)
			}
			for _, heard := range model.Stream(ctx, request) {
				if err = heard; silent { // what came is the comment after the head
					cancel()
				}
			}
			cancel()
			if err == nil || len(told) != 1 {
				t.Fatalf("%s: %v, told %d times", wire, err, len(told))
			}
			holdsNoKey(t, wire, told)
			text, _ := json.Marshal(told)
			named := func(name string) bool {
				return slices.ContainsFunc(told[0].Sent, func(h llm.Header) bool { return h.Name == name && h.Value == "" })
			}
			if !slices.Contains(told[0].Received, llm.Header{Name: "Retry-After", Value: "7"}) || !named("Authorization") && !named("X-Api-Key") && !named("X-Goog-Api-Key") {
				t.Errorf("%s: %s", wire, text)
			}
			if silent && (told[0].SentMore != 1 || !slices.Contains(told[0].Sent, llm.Header{Name: "User-Agent", Value: "silent"})) {
				t.Errorf("%s: %s", wire, text)
			}
		}
	}
}
