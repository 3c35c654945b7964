package gateway_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/mulligan-run/mulligan/advice"
	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/gateway"
	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/internal/protoconv"
	mulliganv1 "github.com/mulligan-run/mulligan/proto/mulligan/v1"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/timeline"
)

// adviceServer is a guarded gateway that gives advice, on a real socket; its plugin switches.
func adviceServer(t *testing.T) (url, token string) {
	t.Helper()
	dir := t.TempDir()
	file, err := gateway.OpenToken(dir)
	if err != nil {
		t.Fatal(err)
	}
	if token, err = gateway.ReadToken(dir); err != nil {
		t.Fatal(err)
	}
	log := timeline.NewMemory()
	switches := hooks.Func(func(_ context.Context, e hooks.RunError) (recovery.Vote, error) {
		if len(e.Alternatives) == 0 {
			return recovery.Vote{}, nil
		}
		return recovery.Vote{Action: recovery.ActionSwitchModel, NewModel: e.Alternatives[0].Model, Reason: "the other one is well"}, nil
	})
	r := runner.New(runner.WithLog(log), runner.WithHook("p", switches), runner.WithAutoRecover(true))
	desk := &advice.Desk{Runs: r, Classify: failure.Classify}
	logger := slog.New(slog.DiscardHandler)
	api := gateway.New(gateway.Config{Runs: newWritten(), Log: log, Advice: desk, RPC: advice.RPC(desk, gateway.CallerName), Logger: logger})
	guarded, err := gateway.NewGuard(gateway.GuardConfig{Token: file.Holds, Logger: logger}, api, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(nil)
	s.Config = gateway.Server(guarded, logger)
	s.Start()
	t.Cleanup(s.Close)
	return s.URL, token
}

const askedOverHTTP = `{"call": "c", "model": "anthropic/claude", "alternatives": ["openai/gpt"], "failure": {"status": 529}}`

func TestDecide(t *testing.T) {
	url, token := adviceServer(t)
	bearer := map[string]string{"Authorization": "Bearer " + token}
	var a, again advice.Reply
	if code := call(t, http.MethodPost, url+"/v1/decide", askedOverHTTP, bearer, &a); code != http.StatusOK {
		t.Fatal(code)
	}
	if !a.Acts() || a.Decision.NewModel != "openai/gpt" || a.Failure.Kind != failure.KindOverloaded || a.Failure.Title == "" || len(a.Votes) != 1 {
		t.Errorf("%+v", a)
	}
	if call(t, http.MethodPost, url+"/v1/decide", askedOverHTTP, bearer, &again); !reflect.DeepEqual(a, again) {
		t.Errorf("asked again: %+v", again)
	}
	var offered advice.Reply
	call(t, http.MethodPost, url+"/v1/decide", strings.Replace(askedOverHTTP, `"call": "c"`, `"call": "d", "autoRecover": false`, 1), bearer, &offered)
	if s := offered.RecoverySuggestion; offered.Acts() || s == nil || s.SuggestedAction != recovery.ActionSwitchModel || s.Actions[0].Effect != recovery.EffectClient {
		t.Errorf("%+v", offered)
	}
	var listed struct{ Runs []gateway.Listed }
	if call(t, http.MethodGet, url+"/v1/runs?label=mulligan/kind%3Dadvised", "", bearer, &listed); len(listed.Runs) != 2 || listed.Runs[1].ID != a.Run || listed.Runs[1].Status != recovery.StatusWaiting {
		t.Errorf("%+v", listed.Runs)
	}
	var closed advice.Closed
	if code := call(t, http.MethodPost, url+"/v1/outcome", `{"call":"c","ok":true}`, bearer, &closed); code != http.StatusOK || closed.Status != recovery.StatusCompleted {
		t.Errorf("%d: %+v", code, closed)
	}
	for _, c := range []struct {
		path, body string
		code       int
	}{
		{"/v1/outcome", `{"call":"c","ok":true}`, http.StatusOK},
		{"/v1/outcome", `{"call":"nobody's","ok":true}`, http.StatusNotFound},
		{"/v1/outcome", `{"ok":true}`, http.StatusUnprocessableEntity},
		{"/v1/decide", `{"call":"c"}`, http.StatusUnprocessableEntity},
		{"/v1/decide", strings.Replace(askedOverHTTP, "anthropic/claude", "claude", 1), http.StatusUnprocessableEntity},
		{"/v1/decide", strings.Replace(askedOverHTTP, "529", `529, "kind": "bilking"`, 1), http.StatusUnprocessableEntity},
		{"/v1/decide", strings.Replace(askedOverHTTP, "529", `529, "secret": 1`, 1), http.StatusUnprocessableEntity},
	} {
		if code := call(t, http.MethodPost, url+c.path, c.body, bearer, nil); code != c.code {
			t.Errorf("%s %s: %d, want %d", c.path, c.body, code, c.code)
		}
	}
	if code := call(t, http.MethodPost, url+"/v1/decide", askedOverHTTP, nil, nil); code != http.StatusUnauthorized {
		t.Errorf("without a token: %d", code)
	}
}

// TestAPassedAttempt: who asks about an attempt that the call has left behind is told so.
func TestAPassedAttempt(t *testing.T) {
	url, token := adviceServer(t)
	bearer := map[string]string{"Authorization": "Bearer " + token}
	third := strings.Replace(askedOverHTTP, `"call": "c"`, `"call": "c", "attempt": 2`, 1)
	if code := call(t, http.MethodPost, url+"/v1/decide", third, bearer, nil); code != http.StatusOK {
		t.Fatal(code)
	}
	if code := call(t, http.MethodPost, url+"/v1/decide", askedOverHTTP, bearer, nil); code != http.StatusConflict {
		t.Error(code)
	}
}

// TestDecideByRPC: the gRPC service has the same words, behind the same guard.
func TestDecideByRPC(t *testing.T) {
	url, token := adviceServer(t)
	conn, err := grpc.NewClient(strings.TrimPrefix(url, "http://"), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	client := mulliganv1.NewAdviceClient(conn)
	known := metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer "+token)
	off := false
	asked := &mulliganv1.DecideRequest{
		Call: "c", Model: "anthropic/claude", Alternatives: []string{"openai/gpt"}, AutoRecover: &off,
		Failure: &mulliganv1.Evidence{Status: 529, Headers: map[string]string{"retry-after": "1"}, When: mulliganv1.Phase_PHASE_MID_STREAM},
	}
	got, err := client.Decide(known, asked)
	if err != nil {
		t.Fatal(err)
	}
	var a advice.Reply
	body := strings.Replace(askedOverHTTP, `"call": "c"`, `"call": "c", "autoRecover": false`, 1)
	call(t, http.MethodPost, url+"/v1/decide", body, map[string]string{"Authorization": "Bearer " + token}, &a)
	if got.GetRun() != a.Run || protoconv.FailureFromProto(got.GetFailure()).Kind != a.Failure.Kind || got.GetDecision().GetNewModel() != a.Decision.NewModel ||
		got.GetRecoverySuggestion().GetId() != a.RecoverySuggestion.ID || len(got.GetRecoverySuggestion().GetActions()) != len(a.RecoverySuggestion.Actions) {
		text, _ := json.Marshal(a)
		t.Errorf("by gRPC %v\nby HTTP %s", got, text)
	}
	ended, err := client.Outcome(known, &mulliganv1.OutcomeRequest{Call: "c", Ok: true})
	if err != nil || ended.GetStatus() != "completed" || ended.GetRun() != a.Run {
		t.Errorf("%v, %v", ended, err)
	}
	for name, c := range map[string]struct {
		ctx  context.Context
		do   func(context.Context) error
		code codes.Code
	}{
		"no token": {t.Context(), func(ctx context.Context) error { _, err := client.Decide(ctx, asked); return err }, codes.Unauthenticated},
		"no model": {known, func(ctx context.Context) error {
			_, err := client.Decide(ctx, &mulliganv1.DecideRequest{Call: "c"})
			return err
		}, codes.InvalidArgument},
		"nobody's call": {known, func(ctx context.Context) error {
			_, err := client.Outcome(ctx, &mulliganv1.OutcomeRequest{Call: "x", Ok: true})
			return err
		}, codes.NotFound},
	} {
		if err := c.do(c.ctx); status.Code(err) != c.code {
			t.Errorf("%s: %v", name, err)
		}
	}
}
