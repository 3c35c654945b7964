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

// TestWhatIf: a run that asked first would have gone on by itself; with another limit it would have
// asked after all; and a plugin's reason is given only to those who ask for texts.
func TestWhatIf(t *testing.T) {
	g := guard(t, nil)
	id, err := g.runs.Start(t.Context(), gateway.Start{Prompt: "hello"})
	if err != nil {
		t.Fatal(err)
	}
	f := *failure.NewFailure(failure.KindOverloaded, failure.OriginModel, failure.PhaseBeforeFirstEvent, nil)
	if err := g.runs.write(id, recovery.Began{Attempt: 1, Round: 1, Model: "a/one"}, recovery.Failed{Attempt: 1, Failure: f}); err != nil {
		t.Fatal(err)
	}
	run, err := g.runs.Inspect(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	about := run.Occasion()
	decided := recovery.Decision{Action: recovery.ActionRetry, Reason: "a secret reason", By: &recovery.Voter{Plugin: "p"}}
	if err := g.runs.write(id, recovery.Voted{Occasion: about, Vote: recovery.Vote{Plugin: "p", Action: recovery.ActionRetry, Reason: "a secret reason"}},
		recovery.Decided{Occasion: about, Decision: decided},
		recovery.Voted{Occasion: about, Vote: recovery.Vote{Plugin: "trial", Shadow: true, Action: recovery.ActionFail}}); err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string]rescue.Course{
		"":                                       {Action: "retry", Acts: run.Policy.AutoRecover},
		"plugin=trial":                           {Action: "fail"},
		"plugin=p&autoRecover=true":              {Action: "retry", Acts: true},
		"plugin=p&autoRecover=false":             {Action: "retry"},
		"plugin=p&autoRecover=true&maxRetries=0": {Action: "retry"},
		"plugin=p&texts=true":                    {Action: "retry", Acts: run.Policy.AutoRecover},
	} {
		got := g.send("GET", "/v1/runs/"+id+"/what-if?"+query, "", g.bearer())
		var w rescue.WhatIf
		if err := json.Unmarshal([]byte(got.body), &w); err != nil || got.code != http.StatusOK || len(w.Failures) != 1 {
			t.Fatalf("%s: %d %s", query, got.code, got.body)
		}
		if now := w.Failures[0].Now; query != "" && (now.Action != want.Action || now.Acts != want.Acts) {
			t.Errorf("%s: %+v", query, now)
		}
		if strings.Contains(got.body, "secret") != strings.Contains(query, "texts") {
			t.Errorf("%s: %s", query, got.body)
		}
	}
	for path, code := range map[string]int{
		"/v1/runs/" + id + "/what-if?maxRetries=-2": 422, "/v1/runs/" + id + "/what-if?autoRecover=maybe": 422, "/v1/runs/r0nosuch/what-if": 404,
		"/v1/runs/" + id + "/what-if?model=x": 422,
	} {
		if got := g.send("GET", path, "", g.bearer()); got.code != code {
			t.Errorf("%s: %d %s", path, got.code, got.body)
		}
	}
}
