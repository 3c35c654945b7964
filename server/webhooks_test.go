package server

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/config"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// TestWebhooks: what is configured is told, and what is wrong with it is said at once.
func TestWebhooks(t *testing.T) {
	told := make(chan string, 9)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var m struct{ Type, Run string }
		_ = json.NewDecoder(r.Body).Decode(&m)
		told <- m.Type + " " + m.Run
	}))
	defer receiver.Close()
	log := timeline.NewMemory()
	srv := &Server{Log: log, Dir: t.TempDir(), Config: &config.Config{Webhooks: []config.Webhook{{URL: receiver.URL, SecretEnv: "HOOK_SECRET", AllowPrivate: true}}}}
	discard := slog.New(slog.DiscardHandler)
	t.Setenv("HOOK_SECRET", "")
	if _, err := srv.tellWebhooks(t.Context(), discard); err == nil || !strings.Contains(err.Error(), "HOOK_SECRET") {
		t.Errorf("without a secret: %v", err)
	}
	t.Setenv("HOOK_SECRET", "short")
	if _, err := srv.tellWebhooks(t.Context(), discard); err == nil || !strings.Contains(err.Error(), "needs 24") {
		t.Errorf("with a short one: %v", err)
	}
	t.Setenv("HOOK_SECRET", strings.Repeat("x", 24))
	stopped, err := srv.tellWebhooks(t.Context(), discard)
	if err != nil {
		t.Fatal(err)
	}
	defer stopped()
	_, err = log.Begin(t.Context(), "r1", "o", time.Minute, func(l timeline.Lease) []recovery.Event {
		at := time.Now().UTC()
		return []recovery.Event{
			{Run: "r1", Seq: 1, Time: at, Body: recovery.Started{Model: "a/one", Input: []llm.Message{llm.User("hi")}, Policy: recovery.DefaultPolicy()}},
			{Run: "r1", Seq: 2, Time: at, Body: recovery.Claimed{Owner: l.Owner, Epoch: l.Epoch}},
			{Run: "r1", Seq: 3, Time: at, Body: recovery.Ended{Status: recovery.StatusCompleted, StopReason: "completed"}},
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	select {
	case got := <-told:
		if got != "ended r1" {
			t.Error(got)
		}
	case <-time.After(time.Minute):
		t.Error("nothing is told")
	}
}
