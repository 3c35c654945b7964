package gateway_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/gateway"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/recovery/rescue"
)

// TestTheRescueOfARun: its headline comes from its events, its texts only to whoever asks for them, and a run of more events than are
// read at once is told whole.
func TestTheRescueOfARun(t *testing.T) {
	g := guard(t, nil)
	id, err := g.runs.Start(t.Context(), gateway.Start{Prompt: "a secret question"})
	if err != nil {
		t.Fatal(err)
	}
	const attempts = 400
	f := *failure.NewFailure(failure.KindOverloaded, failure.OriginModel, failure.PhaseBeforeFirstEvent, nil)
	for n := range uint64(attempts) {
		if err := g.runs.write(id, recovery.Began{Attempt: n + 1, Round: 1, Try: int(n), Model: "a/one", Retry: n > 0}, recovery.Failed{Attempt: n + 1, Failure: f}); err != nil {
			t.Fatal(err)
		}
	}
	for texts, says := range map[string]bool{"": false, "?texts=false": false, "?texts=true": true} {
		got := g.send("GET", "/v1/runs/"+id+"/rescue"+texts, "", g.bearer())
		var r rescue.Rescue
		if err := json.Unmarshal([]byte(got.body), &r); err != nil || got.code != http.StatusOK {
			t.Fatalf("%s: %d %.200s", texts, got.code, got.body)
		}
		if r.Headline != "Being rescued: 399 retries" || len(r.Spans) != attempts || r.Redacted == says {
			t.Errorf("%q: %q, %d spans, redacted %v", texts, r.Headline, len(r.Spans), r.Redacted)
		}
		if strings.Contains(got.body, "secret") != says {
			t.Errorf("%q: %.300s", texts, got.body)
		}
	}
	if got := g.send("GET", "/v1/runs/no-such-run/rescue", "", g.bearer()); got.code != http.StatusNotFound {
		t.Errorf("of no run: %d %s", got.code, got.body)
	}
}
