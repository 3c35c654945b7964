package server

import (
	"context"
	"crypto/sha256"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/config"
	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/gateway"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
	"github.com/mulligan-run/mulligan/timeline/timelinetest"
)

// known is the proxy's token.
type known struct{}

func (known) Holds(digest gateway.Digest) (bool, error) {
	return digest == sha256.Sum256([]byte("token")), nil
}

// behindStore is a proxy whose store fails as it is told to, and its route as more says.
func behindStore(t *testing.T, more string) (store *timelinetest.Faulty, srv *Server, ask func() (status int, text string)) {
	t.Helper()
	lab := faultlab.New(faultlab.WithPace(0))
	lab.Script("one", faultlab.Answer("All is well."))
	upstream := httptest.NewServer(lab)
	t.Cleanup(upstream.Close)
	c, err := config.Parse([]byte("plugins: []\nproviders: {openai: {base_url: \"" + upstream.URL + "/v1\", key_env: LAB_KEY}}\n" + more))
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("LAB_KEY", "key-of-the-provider")
	c.State = t.TempDir()
	if srv, err = New(c, nil); err != nil {
		t.Fatal(err)
	}
	store = timelinetest.NewFaulty(timeline.NewMemory(), func(int) timelinetest.Fault { return timelinetest.Fault{} })
	srv.Log = store
	t.Cleanup(srv.Close)
	r, models, err := srv.Driver(t.Context(), slog.New(slog.DiscardHandler), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(models.Close)
	p, err := srv.NewProxy(r, models, known{}, &Reach{}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	face := httptest.NewServer(p)
	t.Cleanup(face.Close)
	return store, srv, func() (int, string) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, face.URL+"/v1/chat/completions",
			strings.NewReader(`{"model":"one","stream":true,"messages":[{"role":"user","content":"hello"}]}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer token")
		resp, err := (&http.Client{Timeout: time.Minute}).Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(text)
	}
}

// calls are the calls that the store has, once there are so many that have ended.
func calls(t *testing.T, log timeline.Log, want int) []timeline.Summary {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		list, err := log.List(t.Context(), timeline.Query{})
		ended := 0
		for _, s := range list {
			if s.Ended && s.Status == recovery.StatusCompleted {
				ended++
			}
		}
		if ended == want {
			return list
		}
		if err != nil || time.Now().After(deadline) {
			t.Fatalf("%d of %d calls have ended in the store: %v, %+v", ended, want, err, list)
		}
	}
}

// TestACallDoesNotWaitForTheDisk: the caller has its answer while the store still writes, and what
// became of the call is durable a moment later.
func TestACallDoesNotWaitForTheDisk(t *testing.T) {
	store, _, ask := behindStore(t, "")
	disk := gated{store.Log, make(chan struct{})}
	store.Log = disk
	if status, text := ask(); status != 200 || !strings.Contains(text, "[DONE]") {
		t.Fatalf("%d %s", status, text)
	}
	close(disk.gate)
	calls(t, store, 1)
}

// gated is a log that begins no run before its gate is open.
type gated struct {
	timeline.Log
	gate chan struct{}
}

func (g gated) Begin(
	ctx context.Context, run, owner string, ttl time.Duration, first func(timeline.Lease) []recovery.Event,
) (timeline.Lease, error) {
	select {
	case <-g.gate:
		return g.Log.Begin(ctx, run, owner, ttl, first)
	case <-ctx.Done():
		return timeline.Lease{}, ctx.Err()
	}
}

// TestAKeptCallIsDurableFirst: a call whose contents are kept can be resumed, so that nothing is
// asked before that is durable (I06).
func TestAKeptCallIsDurableFirst(t *testing.T) {
	store, _, ask := behindStore(t, "proxy: {routes: [{match: \"*\", models: [$provider/$model], keep: content}]}\n")
	if status, text := ask(); status != 200 || !strings.Contains(text, "[DONE]") {
		t.Fatalf("%d %s", status, text)
	}
	list, err := store.List(t.Context(), timeline.Query{})
	if err != nil || len(list) != 1 || !list[0].Ended {
		t.Errorf("%+v, %v", list, err)
	}
}

// TestCallsThatCannotBeWrittenDown are refused, in the words of their wire, until the store writes
// again; what was taken down before is there in the end.
func TestCallsThatCannotBeWrittenDown(t *testing.T) {
	store, srv, ask := behindStore(t, "")
	if status, text := ask(); status != 200 || !strings.Contains(text, "[DONE]") {
		t.Fatalf("%d %s", status, text)
	}
	calls(t, store, 1)
	store.Break(timelinetest.Fault{Err: &timeline.StoreError{File: "x", Kind: timeline.ErrFull, Reason: "no space left on device", Err: syscall.ENOSPC}})
	var status int
	var text string
	for deadline := time.Now().Add(time.Minute); status != 503 && time.Now().Before(deadline); {
		status, text = ask()
	}
	if status != 503 || !strings.Contains(text, `"error"`) || !strings.Contains(text, "mulligan doctor") || strings.Contains(text, "no space") {
		t.Errorf("%d %s", status, text)
	}
	before := store.Appends()
	store.Break(timelinetest.Fault{})
	for deadline := time.Now().Add(time.Minute); status != 200 && time.Now().Before(deadline); {
		status, text = ask()
	}
	if status != 200 || store.Appends() == before {
		t.Fatalf("it writes again: %d %s", status, text)
	}
	if err := srv.ledger.Flush(t.Context()); err != nil {
		t.Error(err)
	}
	list, err := store.List(t.Context(), timeline.Query{})
	if err != nil || len(list) < 3 {
		t.Errorf("%d calls are in the store, %v", len(list), err)
	}
}
