package gateway_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/gateway"
)

// TestAGatewayThatEndsDoesNotEndRuns: only a run that has ended ends its stream for good; a
// follower that a gateway hangs up on comes back.
func TestAGatewayThatEndsDoesNotEndRuns(t *testing.T) {
	w := newWritten()
	run, err := w.Start(t.Context(), gateway.Start{Prompt: "hi"})
	if err != nil {
		t.Fatal(err)
	}
	requests, hangUp := context.WithCancel(t.Context())
	defer hangUp()
	s := httptest.NewUnstartedServer(gateway.New(gateway.Config{Runs: w, Log: w.log, Version: "test"}))
	s.Config.BaseContext = func(net.Listener) context.Context { return requests }
	s.Start()
	defer s.Close()
	resp, err := http.Get(s.URL + "/v1/runs/" + run + "/events")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body := bufio.NewReader(resp.Body)
	for line := ""; !strings.HasPrefix(line, "event: event"); {
		if line, err = body.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	hangUp()
	rest, _ := io.ReadAll(body) // it may be cut anywhere
	if strings.Contains(string(rest), "event: end") {
		t.Errorf("the follower is told that nothing follows:\n%s", rest)
	}
}
