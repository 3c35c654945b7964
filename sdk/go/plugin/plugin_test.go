package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/internal/protoconv"
	mulliganv1 "github.com/mulligan-run/mulligan/proto/mulligan/v1"
	"github.com/mulligan-run/mulligan/recovery"
)

func TestServerAsksThePlugin(t *testing.T) {
	s := newServer(Func(func(_ context.Context, e Event) (Decision, error) {
		if e.Kind != failure.KindRateLimit || e.RetryAfter != 3*time.Second || e.Alternatives[0] != "a/b" {
			t.Errorf("%+v", e)
		}
		return Switch("a/b", "busy"), nil
	}), nil)
	got, err := s.RunError(t.Context(), &mulliganv1.RunErrorRequest{
		Failure:      &mulliganv1.Failure{Kind: mulliganv1.Kind_KIND_RATE_LIMIT, RetryAfterMs: 3000},
		Alternatives: []*mulliganv1.Alternative{{Model: "a/b"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	vote, err := protoconv.Reply(got)
	if err != nil || vote.NewModel != "a/b" || vote.Action != recovery.ActionSwitchModel || vote.Reason != "busy" {
		t.Errorf("%+v %v", vote, err)
	}
}

func TestServerSurvivesThePlugin(t *testing.T) {
	var stderr strings.Builder
	s := newServer(Func(func(context.Context, Event) (Decision, error) { panic("boom") }), nil)
	s.stderr = &stderr
	_, err := s.RunError(t.Context(), &mulliganv1.RunErrorRequest{})
	if status.Code(err) != codes.Internal || !strings.Contains(stderr.String(), "panic: boom") {
		t.Errorf("%v, said %q", err, stderr.String())
	}
}

func TestErrorsAreBounded(t *testing.T) {
	s := newServer(Func(func(context.Context, Event) (Decision, error) {
		return None, errors.New("\xff" + strings.Repeat("x", 1<<20))
	}), nil)
	_, err := s.RunError(t.Context(), &mulliganv1.RunErrorRequest{})
	text := status.Convert(err).Message()
	if status.Code(err) != codes.Unknown || len(text) > maxError || !utf8.ValidString(text) {
		t.Errorf("%v with %d bytes", status.Code(err), len(text))
	}
}

func TestLogHasTheRun(t *testing.T) {
	var out strings.Builder
	s := newServer(Func(func(ctx context.Context, _ Event) (Decision, error) {
		Log(ctx).Warn("over quota", "spent", 3)
		return None, nil
	}), nil)
	s.lines = slog.NewJSONHandler(&out, &slog.HandlerOptions{ReplaceAttr: rename})
	if _, err := s.RunError(t.Context(), &mulliganv1.RunErrorRequest{Run: "r", Session: "s"}); err != nil {
		t.Fatal(err)
	}
	var line map[string]any
	if err := json.Unmarshal([]byte(out.String()), &line); err != nil {
		t.Fatal(err)
	}
	_, timed := line["@timestamp"].(string)
	delete(line, "@timestamp")
	want := map[string]any{"@level": "warn", "@message": "over quota", "run": "r", "session": "s", "spent": 3.0}
	if !timed || !reflect.DeepEqual(line, want) {
		t.Errorf("%v", line)
	}
}

func TestConfigure(t *testing.T) {
	var got json.RawMessage
	s := newServer(nil, []Option{WithName("n"), WithVersion("v"), WithConfigSchema(`{}`), WithConfig(func(c json.RawMessage) error {
		got = c
		if c == nil {
			return errors.New("nothing")
		}
		return nil
	})})
	d, _ := s.Describe(t.Context(), nil)
	if d.GetName() != "n" || d.GetVersion() != "v" || string(d.GetConfigSchema()) != "{}" {
		t.Errorf("%v", d)
	}
	if _, err := s.Configure(t.Context(), &mulliganv1.ConfigureRequest{Config: []byte(`{"a":1}`)}); err != nil || string(got) != `{"a":1}` {
		t.Errorf("%s %v", got, err)
	}
	if _, err := s.Configure(t.Context(), &mulliganv1.ConfigureRequest{}); status.Code(err) != codes.InvalidArgument {
		t.Errorf("%v", err)
	}
}

func TestStartedByHand(t *testing.T) {
	var b strings.Builder
	explain(&b, "/x/mine")
	if !strings.Contains(b.String(), "mulligan.yaml") || !strings.Contains(b.String(), "name: mine") {
		t.Error(b.String())
	}
}
