package gateway_test

import (
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/gateway"
)

// streamed follows a run, and gives a channel that closes when the stream ends.
func (g *guarded) streamed(run, header string) <-chan struct{} {
	g.t.Helper()
	req, err := http.NewRequestWithContext(g.t.Context(), http.MethodGet, g.URL+"/v1/runs/"+run+"/events", nil)
	if err != nil {
		g.t.Fatal(err)
	}
	setHeader(req, header)
	resp, err := http.DefaultClient.Do(req) //nolint:bodyclose // it is closed when the stream is over
	if err != nil || resp.StatusCode != http.StatusOK {
		g.t.Fatal(resp, err)
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		defer resp.Body.Close()
		_, _ = io.Copy(io.Discard, resp.Body)
	}()
	return over
}

// TestS03StreamsEndWithWhatLetThemIn: a logout ends the streams of its session and no others, a
// new token all that the old one let in.
func TestS03StreamsEndWithWhatLetThemIn(t *testing.T) {
	g := guard(t, nil)
	if got := g.send("POST", "/v1/runs", `{"prompt":"x"}`, g.bearer()); got.code != http.StatusCreated {
		t.Fatal(got)
	}
	session, other := g.logIn(), g.logIn()
	left, left2, stays, token := g.streamed("r1", session), g.streamed("r1", session), g.streamed("r1", other), g.streamed("r1", g.bearer())
	if got := g.send("POST", "/v1/logout", "", session, "X-Mulligan-Csrf: 1"); got.code != http.StatusNoContent {
		t.Fatal(got)
	}
	ends(t, "the session that logged out", left, left2)
	select {
	case <-stays:
		t.Error("another session's stream ended")
	case <-token:
		t.Error("the token's stream ended")
	default:
	}
	if err := gateway.RotateToken(g.dir); err != nil {
		t.Fatal(err)
	}
	ends(t, "the token that was replaced", stays, token)
}

// ends waits for streams; they have 1 s, and a busy machine some more.
func ends(t *testing.T, of string, streams ...<-chan struct{}) {
	t.Helper()
	busy := time.After(10 * time.Second)
	for _, over := range streams {
		select {
		case <-over:
		case <-busy:
			t.Fatalf("a stream outlives %s", of)
		}
	}
}
