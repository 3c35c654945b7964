package rules

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/sdk/go/plugin"
)

// TestNamesMeanTheirExpressions in any order, and what is wrong with one is told where it stands.
func TestNamesMeanTheirExpressions(t *testing.T) {
	rs := parse(t, `
expressions:
  late_and_busy: late && failure.kind == "overloaded"
  late: at.getHours() >= 18
  hour: string(at.getHours())
rules:
  - when: late_and_busy
    fail: {reason: "it is {{hour}} o'clock"}
`)
	for hour, want := range map[int]string{17: "", 18: "it is 18 o'clock"} {
		f := factsOf(event(func(e *plugin.Event) {
			e.Failure.Kind, e.Time = failure.KindOverloaded, time.Date(2026, 5, 4, hour, 0, 0, 0, time.UTC)
		}))
		if o := rs.decide(f, 0); o.Vote.Reason != want || len(o.Notes) > 0 {
			t.Errorf("at %d: %+v", hour, o)
		}
	}
	for text, want := range map[string]string{
		"expressions: {a: b, b: a}\nrules: []":                                          `"b" is not known`,
		"expressions: {model: attempt}\nrules: []":                                      `"model" is a fact already`,
		"expressions: {a b: attempt}\nrules: []":                                        `"a b" is not a name`,
		"counters: {n: {}}\nrules: []":                                                  "a counter needs a time",
		"counters: {n: {within: 8d}}\nrules: []":                                        "is not a duration",
		"counters: {n: {within: 1m, by: attempt}}\nrules: []":                           "by is a text",
		"counters: {outages: {within: 1m}}\nrules: [{when: counts.outage > 1, fail: }]": `there is no counter "outage" under counters; did you mean "outages"`,
		"webhooks: {p: {url: 'http://example.com'}}\nrules: []":                         "http is for private addresses",
		"webhooks: {p: {url: 'https://169.254.169.254/x'}}\nrules: []":                  "metadata service",
		"webhooks: {p: {url: 'https://u:p@example.com'}}\nrules: []":                    "no user",
		"rules: [{when: true, webhook: pager}]":                                         `there is no webhook "pager"`,
		"rules: [{when: true, restrict: {}}]":                                           "restrict forbids nothing",
		"rules: [{when: true, restrict: {never: [openai]}}]":                            "is not the full name of a model",
		"before_call: [{when: true, hold: {}}]":                                         "hold needs a time",
		"before_call: [{when: true, retry: }]":                                          `a rule of before_call has no field "retry"`,
		"before_call: [{when: true, allow: , refuse: }]":                                "exactly one of allow, route, hold and refuse",
	} {
		if _, err := parseRules("x.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\nwant %q, got %v", text, want, err)
		}
	}
}

// TestWhatRulesForbid counts together, with a decision and without one.
func TestWhatRulesForbid(t *testing.T) {
	rs := parse(t, `
rules:
  - {when: true, restrict: {never: [openai/*], max_output_price: 15}, reason: "data stay here"}
  - {when: attempt > 0, restrict: {local: true, max_output_price: 2.5}}
  - {when: attempt > 1, retry: {after: 1s, jitter: false}}
`)
	for attempt, want := range []string{
		"openai/*, models of more than $15.00 per million output tokens",
		"openai/*, models of more than $2.50 per million output tokens, models that are not on this machine",
		"openai/*, models of more than $2.50 per million output tokens, models that are not on this machine",
	} {
		o := rs.decide(factsOf(event(func(e *plugin.Event) { e.Attempt = attempt })), 0)
		if got := o.Vote.Restrict.InWords(); got != want || (o.Rule != nil) != (attempt > 1) {
			t.Errorf("attempt %d: %q, rule %v", attempt, got, o.Rule)
		}
	}
}

// TestRulesBeforeACall say what may begin.
func TestRulesBeforeACall(t *testing.T) {
	rs := parse(t, `
before_call:
  - {when: labels.team == "blue", allow: {}}
  - {when: images, refuse: {reason: "no pictures"}}
  - {when: input_tokens > 100, hold: {for: 10m}}
  - {when: at.getHours() >= 18, route: {to: [b/*]}}
`)
	at := time.Date(2026, 5, 4, 20, 0, 0, 0, time.UTC)
	call := plugin.Call{Model: "a/one", Models: []recovery.Alternative{{Model: "c/three"}, {Model: "b/two"}}, Time: at, Labels: map[string]string{"team": "red"}}
	for name, c := range map[string]struct {
		change func(*plugin.Call)
		want   recovery.Vote
	}{
		"route":  {func(*plugin.Call) {}, recovery.Vote{Action: recovery.ActionRoute, NewModel: "b/two"}},
		"hold":   {func(c *plugin.Call) { c.InputTokens = 101 }, recovery.Vote{Action: recovery.ActionHold, Until: at.Add(10 * time.Minute)}},
		"refuse": {func(c *plugin.Call) { c.Images = true }, recovery.Vote{Action: recovery.ActionRefuse}},
		"allow":  {func(c *plugin.Call) { c.Images, c.Labels = true, map[string]string{"team": "blue"} }, recovery.Vote{Action: recovery.ActionAllow}},
		"none":   {func(c *plugin.Call) { c.Models = nil }, recovery.Vote{}},
	} {
		c1 := call
		c.change(&c1)
		if v := rs.judge(callFacts(c1)).Vote; v.Action != c.want.Action || v.NewModel != c.want.NewModel || !v.Until.Equal(c.want.Until) {
			t.Errorf("%s: %+v", name, v)
		}
	}
}

// TestCountersCountTheLastWhile, each provider for itself, and remember over restarts.
func TestCountersCountTheLastWhile(t *testing.T) {
	text := `
counters: {outages: {within: 10m, when: failure.kind == "overloaded", by: failure.provider}}
rules: [{when: counts.outages >= 3, fail: }]
`
	k, begin := newMemory(), time.Date(2026, 5, 4, 3, 0, 0, 0, time.UTC)
	for i, c := range []struct {
		minute   int
		provider string
		kind     failure.Kind
		want     int
	}{
		{0, "a", failure.KindOverloaded, 1},
		{4, "a", failure.KindOverloaded, 2},
		{5, "a", failure.KindTimeout, 2},
		{6, "b", failure.KindOverloaded, 1},
		{9, "a", failure.KindOverloaded, 3},
		{10, "a", failure.KindOverloaded, 3},
		{30, "a", failure.KindOverloaded, 1},
	} {
		rs := parse(t, text) // anew each time
		f := factsOf(event(func(e *plugin.Event) {
			e.Failure.Kind, e.Failure.Provider, e.Time = c.kind, c.provider, begin.Add(time.Duration(c.minute)*time.Minute)
		}))
		if err := rs.count(t.Context(), k, f, true); err != nil || f.Counts["outages"] != c.want || (rs.decide(f, 0).Rule != nil) != (c.want >= 3) {
			t.Errorf("%d: %v, %v, want %d", i, f.Counts, err, c.want)
		}
	}
}

// TestTelling: a receiver is told again where that may help, and never where it may not be reached.
func TestTelling(t *testing.T) {
	var asked atomic.Int32
	got := make(chan message, 9)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) == 1 {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		var m message
		_ = json.NewDecoder(r.Body).Decode(&m)
		got <- m
	}))
	t.Cleanup(server.Close)
	rs := parse(t, `
webhooks: {pager: {url: "`+server.URL+`", allow_private: true}, outside: {url: "https://localhost:1/x"}}
rules: [{when: true, webhook: pager, reason: "{{failure.provider}} is down"}]
`)
	var shown strings.Builder
	if err := rs.WriteDecision(&shown, factsOf(event(nil))); err != nil || !strings.Contains(shown.String(), "rule 1: holds, and decides nothing: tell pager, and go on\n") {
		t.Error(shown.String(), err)
	}
	o := rs.decide(factsOf(event(nil)), 0)
	if len(o.Tells) != 1 || o.Rule != nil {
		t.Fatalf("%+v", o)
	}
	if err := rs.receivers[0].tell(t.Context(), o.Tells[0].message); err != nil {
		t.Fatal(err)
	}
	if m := <-got; m.Reason != "work is down" || m.Rule != "rule 1" || m.Kind == "" {
		t.Errorf("%+v", m)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if err := rs.receivers[1].tell(ctx, message{}); err == nil || strings.Contains(err.Error(), "localhost") {
		t.Errorf("a private address: %v", err)
	}
}
