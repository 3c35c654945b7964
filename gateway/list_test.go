package gateway_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/gateway"
)

// TestRunsAreListedByHowTheyWent: one went well so far, one waits for a person, one was answered.
func TestRunsAreListedByHowTheyWent(t *testing.T) {
	w := newWritten()
	s := serve(t, w)
	for _, prompt := range []string{"Plan a trip", "Write a letter", "Write a poem"} {
		call(t, "POST", s.URL+"/v1/runs", `{"prompt":"`+prompt+`","labels":{"tenant":"acme"}}`, nil, nil)
	}
	w.fail(t, "r2")
	w.fail(t, "r3")
	if code := call(t, "POST", s.URL+"/v1/runs/r3/recover", `{"action":"retry"}`, nil, nil); code != http.StatusAccepted {
		t.Fatal(code)
	}
	soon := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	for query, want := range map[string][]string{
		"":                               {"r3", "r2", "r1"},
		"order=oldest":                   {"r1", "r2", "r3"},
		"order=oldest&limit=1&before=r1": {"r2"},
		"needsYou=true":                  {"r2"},
		"kind=overloaded":                {"r3", "r2"},
		"kind=auth":                      nil,
		"kind=overloaded&status=failed":  {"r2"},
		"decidedBy=person":               {"r3"},
		"model=a/one":                    {"r3", "r2", "r1"},
		"model=b/two":                    nil,
		"text=WRITE":                     {"r3", "r2"},
		"text=model_provider_unavailable&order=oldest": {"r2", "r3"},
		"since=1h":                       {"r3", "r2", "r1"},
		"since=" + url.QueryEscape(soon): nil,
		"until=" + url.QueryEscape(soon) + "&label=tenant=acme&text=trip": {"r1"},
	} {
		var page struct {
			Runs []gateway.Listed
			Next string
		}
		code := call(t, "GET", s.URL+"/v1/runs?"+query, "", nil, &page)
		var got []string
		for _, r := range page.Runs {
			got = append(got, r.ID)
		}
		if code != http.StatusOK || !slices.Equal(got, want) {
			t.Errorf("%s: %d %v, not %v", query, code, got, want)
		}
	}
	var page struct{ Runs []gateway.Listed }
	call(t, "GET", s.URL+"/v1/runs?needsYou=true", "", nil, &page)
	if r := page.Runs[0]; r.Kind != "overloaded" || r.Problem == "" || r.Attempts != 1 || r.Failed != 1 || !r.SuggestionOpen {
		t.Errorf("%+v", r)
	}
	for query, says := range map[string]string{
		"kind=bad": "query.kind", "order=up": "query.order", "since=yesterday": "since", "until=x": "until", "text=": "it has no value",
	} {
		var problem json.RawMessage
		if code := call(t, "GET", s.URL+"/v1/runs?"+query, "", nil, &problem); code != http.StatusUnprocessableEntity || !bytes.Contains(problem, []byte(says)) {
			t.Errorf("%s: %d %s", query, code, problem)
		}
	}
}
