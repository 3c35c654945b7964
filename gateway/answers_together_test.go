package gateway_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"testing"

	"github.com/mulligan-run/mulligan/gateway"
	"github.com/mulligan-run/mulligan/recovery"
)

// TestManySuggestionsAreAnsweredAtOnce: what is previewed changes nothing, and what is answered
// twice is answered once.
func TestManySuggestionsAreAnsweredAtOnce(t *testing.T) {
	w := newWritten()
	s := serve(t, w)
	for _, id := range []string{"r1", "r2"} {
		call(t, "POST", s.URL+"/v1/runs", `{"prompt":"hi"}`, nil, nil)
		w.fail(t, id)
	}
	var open struct{ Causes []gateway.OpenCause }
	call(t, "GET", s.URL+"/v1/suggestions/causes", "", nil, &open)
	if len(open.Causes) != 1 || open.Causes[0].Runs != 2 || open.Causes[0].Provider != "anthropic" || len(open.Causes[0].Offers) == 0 {
		t.Fatalf("%+v", open)
	}
	answer := func(body string) (state string) {
		t.Helper()
		var out struct{ Results []gateway.AnsweredOne }
		if code := call(t, "POST", s.URL+"/v1/suggestions/answers", body, nil, &out); code != http.StatusOK {
			t.Fatalf("%s: %d", body, code)
		}
		for _, r := range out.Results {
			state += r.Run + " " + r.State + " " + r.Action + " " + r.Model + "; "
		}
		return state
	}
	sent := func(run string) int {
		commands, err := w.log.Inbox(t.Context(), run, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range commands {
			if a, ok := c.Body.(recovery.Accepted); !ok || a.Action == "" {
				t.Errorf("%+v", c)
			}
		}
		return len(commands)
	}
	switching := `{"kind":"overloaded","provider":"anthropic","action":"switch_model","model":"b/two"`
	if got := answer(switching + `,"dryRun":true}`); got != "r2 would switch_model b/two; r1 would switch_model b/two; " || sent("r1")+sent("r2") != 0 {
		t.Errorf("preview: %s", got)
	}
	for range 2 {
		if got := answer(switching + `}`); got != "r2 sent switch_model b/two; r1 sent switch_model b/two; " || sent("r1") != 1 || sent("r2") != 1 {
			t.Errorf("%s", got)
		}
	}
	if got := answer(`{"provider":"openai","action":"retry"}`); got != "" {
		t.Errorf("of another provider: %s", got)
	}
	if got := answer(`{"runs":["r1"],"action":"compact"}`); got != "r1 none  ; " {
		t.Errorf("what nobody offers: %s", got)
	}
	for _, body := range []string{`{"kind":"bad"}`, `{"label":["x"]}`, `{"limit":0}`, `{"colour":"red"}`} {
		var problem json.RawMessage
		if code := call(t, "POST", s.URL+"/v1/suggestions/answers", body, nil, &problem); code != http.StatusUnprocessableEntity || !bytes.Contains(problem, []byte("body")) {
			t.Errorf("%s: %d %s", body, code, problem)
		}
	}
}
