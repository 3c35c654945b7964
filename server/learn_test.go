package server

import (
	"errors"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/config"
	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/gateway"
)

// What is learned of a failure in the timeline fits the next one of the provider's, and holds
// no key that is known.
func TestLearnFromTheTimeline(t *testing.T) {
	t.Setenv("ACME_KEY", "canarycanarycanary")
	m, err := NewModels(&config.Config{State: t.TempDir(), Providers: map[string]config.Provider{
		"acme": {Type: "openai", BaseURL: "http://127.0.0.1:1/v1", KeyEnv: "ACME_KEY"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	s := &Runs{models: m}
	said := func(plan string) failure.Evidence {
		return failure.Evidence{
			Provider: "acme", Model: "acme/m", Status: http.StatusTooManyRequests, At: time.Date(2026, 3, 20, 12, 0, 0, 0, time.UTC), Phase: failure.PhaseBeforeFirstEvent,
			Body: []byte(m.Redact(`{"error":{"type":"rate_limit_error","code":"plan_over","message":"Plan ` + plan + ` is over for canarycanarycanary.\nAsk sales."}}`)), // as adapters do
		}
	}
	f := m.known.Classify(said("7"))
	lesson, err := s.learn(*f, failure.KindAuth)
	if err != nil || lesson.Before != f.Kind || lesson.After != failure.KindAuth || lesson.File != m.known.File {
		t.Fatalf("%+v, %v", lesson, err)
	}
	if got := m.known.Classify(said("8")).Kind; got != failure.KindAuth {
		t.Errorf("the next one is %s", got)
	}
	if file, err := os.ReadFile(lesson.File); err != nil || strings.Contains(string(file), "canary") || !strings.Contains(string(file), lesson.Row) {
		t.Errorf("%v, the file is\n%s", err, file)
	}
	if again, err := s.learn(*f, failure.KindAuth); err != nil || again.Row != "" {
		t.Errorf("once more: %+v, %v", again, err)
	}
	// It was called wrong, and is called by its first kind again.
	if back, err := s.learn(*f, f.Kind); err != nil || back.Row == "" || m.known.Classify(said("9")).Kind != f.Kind {
		t.Errorf("back: %+v, %v", back, err)
	}
}

func TestLearnNothingOfOurOwn(t *testing.T) {
	m, err := NewModels(&config.Config{State: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	idle := *failure.NewFailure(failure.KindTimeout, failure.OriginModel, failure.PhaseMidStream, nil)
	idle.Timer, idle.Detail = failure.TimerIdle, "nothing came"
	missing := *failure.NewFailure(failure.KindAuth, failure.OriginPrompt, failure.PhasePrompt, nil)
	missing.Detail = "no API key for acme"
	empty := *failure.NewFailure(failure.KindUnknown, failure.OriginModel, failure.PhaseMidStream, nil)
	for name, f := range map[string]failure.Failure{"a timer": idle, "a missing key": missing, "no mark": empty} {
		if _, err := (&Runs{models: m}).learn(f, failure.KindBilling); !errors.Is(err, gateway.ErrNotLearned) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := os.Stat(m.known.File); err == nil {
		t.Error("a file was written")
	}
}

// TestEvidenceOf learns the failures of real messages from what the timeline keeps of them.
func TestEvidenceOf(t *testing.T) {
	for _, e := range []failure.Evidence{
		{Provider: "a", Err: errors.New("read tcp 127.0.0.1:1234->127.0.0.1:80: connection reset by peer"), Phase: failure.PhaseMidStream},
		{Provider: "a", Status: 200, Err: errors.New("the answer is empty"), Kind: failure.KindEmptyResponse, Phase: failure.PhaseEndOfStream},
		{Provider: "a", Status: 529},
		{Provider: "a", Status: 502, Body: []byte("<html><title>502 Bad Gateway</title><h1>Bad gateway 1</h1></html>")},
		{Provider: "a", Status: 400, Header: http.Header{"X-Amzn-Errortype": {"ValidationException:http://x"}}, Body: []byte(`{"message":"malformed 7"}`)},
	} {
		f := failure.Classify(e)
		entry, err := config.EntryOf(f, failure.KindTLS, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		table, err := failure.NewLocal(config.FailureRows([]config.Failure{entry}, "x"))
		if err != nil {
			t.Fatal(err)
		}
		if !table.Fits(e) || !table.Fits(evidenceOf(f, time.Now())) {
			t.Errorf("%s of %+v fits %v, and from the timeline %v", entry.Line(), f, table.Fits(e), table.Fits(evidenceOf(f, time.Now())))
		}
	}
}
