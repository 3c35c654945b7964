package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mulligan-run/mulligan/runner"
)

const tokenEnv = "MULLIGAN_TEST_MCP_TOKEN"

// elsewhere serves tools by HTTP to clients that have the token.
func elsewhere(build func(*sdk.Server)) http.Handler {
	server := sdk.NewServer(&sdk.Implementation{Name: "elsewhere", Version: "1"}, nil)
	build(server)
	mcp := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer let-me-in" {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		mcp.ServeHTTP(w, r)
	})
}

func authorizedSpec(url string) Spec {
	return Spec{Name: "far", URL: url, Headers: map[string]string{"Authorization": "Bearer ${" + tokenEnv + "}"}}
}

func TestHTTP(t *testing.T) {
	t.Setenv(tokenEnv, "let-me-in")
	server := httptest.NewServer(elsewhere(func(s *sdk.Server) { s.AddTool(declared("look", readOnly), says("far away")) }))
	defer server.Close()
	set := opened(t, authorizedSpec(server.URL), shortTimes, quiet)
	defer set.Close() // before the server, which waits for its connections
	if text, err := run(t.Context(), t, set, "far__look"); text != "far away" || err != nil {
		t.Errorf("got %q, %v; %+v", text, err, state(set))
	}
}

func TestHTTPRefuses(t *testing.T) {
	server := httptest.NewServer(elsewhere(func(*sdk.Server) {}))
	defer server.Close()
	for token, want := range map[string]string{
		"":            "its header Authorization needs the variable " + tokenEnv + ", which is not set",
		"out-of-date": "it refused: 401 Unauthorized; see that the variables in its headers hold what it wants",
	} {
		t.Setenv(tokenEnv, token)
		set := opened(t, authorizedSpec(server.URL), shortTimes, quiet)
		if s := state(set); s.LastError != want || len(set.Tools()) != 0 {
			t.Errorf("%+v", s)
		}
		set.Close()
	}
	set := opened(t, Spec{Name: "far", URL: server.URL}, shortTimes, quiet)
	if s := state(set); !strings.Contains(s.LastError, "give it a header such as Authorization: Bearer ${TOKEN}") {
		t.Errorf("%+v", s)
	}
}

// TestHTTPKeyExpires takes the key away between two calls: the call was refused, so its
// outcome is known.
func TestHTTPKeyExpires(t *testing.T) {
	t.Setenv(tokenEnv, "let-me-in")
	expired := make(chan struct{})
	open := elsewhere(func(s *sdk.Server) { s.AddTool(declared("work", nil), says("done")) })
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-expired:
			http.Error(w, "your key has expired", http.StatusUnauthorized)
		default:
			open.ServeHTTP(w, r)
		}
	}))
	defer server.Close()
	set := opened(t, authorizedSpec(server.URL), shortTimes, quiet)
	defer set.Close()
	close(expired)
	_, err := run(t.Context(), t, set, "far__work")
	if err == nil || errors.Is(err, runner.ErrOutcomeUnknown) || !strings.Contains(err.Error(), "401 Unauthorized") {
		t.Errorf("got %v", err)
	}
}

// TestHTTPServerGoesAway breaks the connection in mid-call, keeps the address closed for a
// while, and is back there.
func TestHTTPServerGoesAway(t *testing.T) {
	t.Setenv(tokenEnv, "let-me-in")
	began, ended := make(chan struct{}, 1), make(chan error, 1)
	handler := elsewhere(func(s *sdk.Server) {
		s.AddTool(declared("work", nil), hangs(began, ended))
		s.AddTool(declared("look", readOnly), says("here"))
	})
	first := httptest.NewServer(handler)
	times := shortTimes
	times.await, times.most, times.deaths = 100*time.Millisecond, 100*time.Millisecond, 1000
	set := opened(t, authorizedSpec(first.URL), times, quiet)
	defer set.Close()
	go func() {
		<-began
		_ = first.Listener.Close()
		first.CloseClientConnections()
	}()
	_, err := run(t.Context(), t, set, "far__work")
	if !errors.Is(err, runner.ErrOutcomeUnknown) {
		t.Errorf("the call ended with %v", err)
	}
	_, err = run(t.Context(), t, set, "far__work")
	if err == nil || errors.Is(err, runner.ErrOutcomeUnknown) {
		t.Errorf("a call of nobody ended with %v", err)
	}
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", first.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	second := &httptest.Server{Listener: listener, Config: &http.Server{Handler: handler}} //nolint:gosec // a test
	second.Start()
	defer second.CloseClientConnections()
	eventually(t, "the server is back", func() bool {
		text, err := run(t.Context(), t, set, "far__look")
		return text == "here" && err == nil
	})
}

// TestHTTPGoesNowhereElse is sent on to another address, which must not get the key.
func TestHTTPGoesNowhereElse(t *testing.T) {
	t.Setenv(tokenEnv, "let-me-in")
	thief := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("it was asked, with %q", r.Header.Get("Authorization"))
	}))
	defer thief.Close()
	server := httptest.NewServer(http.RedirectHandler(thief.URL, http.StatusTemporaryRedirect))
	defer server.Close()
	set := opened(t, authorizedSpec(server.URL), shortTimes, quiet)
	if s := state(set); !strings.Contains(s.LastError, "it redirects") {
		t.Errorf("%+v", s)
	}
}

// TestHTTPPages: a list of tools in many pages is held to what one message may have.
func TestHTTPPages(t *testing.T) {
	served := sdk.NewServer(&sdk.Implementation{Name: "elsewhere", Version: "1"}, &sdk.ServerOptions{PageSize: 1})
	for i := range 2 * maxMessage >> 20 {
		served.AddTool(&sdk.Tool{Name: fmt.Sprint("t", i), Description: strings.Repeat("x", 1<<20), InputSchema: json.RawMessage(`{"type":"object"}`)}, says(""))
	}
	server := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return served }, nil))
	defer server.Close()
	set := opened(t, Spec{Name: "far", URL: server.URL}, shortTimes, quiet)
	defer set.Close()
	if s := state(set); !strings.Contains(s.LastError, "all pages together have more than 16 MiB") || len(set.Tools()) != 0 {
		t.Errorf("%+v", s)
	}
}
