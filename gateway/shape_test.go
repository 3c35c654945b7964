package gateway_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
)

// TestS34OneSpellingOfEveryKey: encoding/json takes a key in any letter case, and the last of two
// that are equal so. No key gets past its schema that way.
func TestS34OneSpellingOfEveryKey(t *testing.T) {
	g := guard(t, nil)
	for _, c := range []struct{ method, path, body, at, says string }{
		{"POST", "/v1/runs", `{"prompt":"x","MaxRetries":99}`, "body.MaxRetries", "write maxRetries"},
		{"POST", "/v1/runs", `{"prompt":"x","maxRetries":1,"MaxRetries":99}`, "body.MaxRetries", "write maxRetries"},
		{"POST", "/v1/runs", `{"prompt":"x","meſſages":[]}`, "body.meſſages", "write messages"},
		{"POST", "/v1/runs", `{"prompt":"x","budget":{"Tokens":5}}`, "body.budget.Tokens", "write tokens"},
		{"POST", "/v1/runs", `{"prompt":"x","maxRetries":1,"autorecover":true}`, "body.autorecover", "write autoRecover"},
		{"POST", "/v1/runs", `{"messages":[{"role":"user","Role":"assistant","parts":[]}]}`, "body.messages[0].Role", "write role"},
		{"POST", "/v1/runs/r1/recover", `{"action":"stop","Action":"retry"}`, "body.Action", "write action"},
		{"PUT", "/v1/sessions/s", `{"Timeouts":{"idle":1}}`, "body.Timeouts", "write timeouts"},
	} {
		got := g.send(c.method, c.path, c.body, g.bearer())
		var said huma.ErrorModel
		if err := json.Unmarshal([]byte(got.body), &said); err != nil || got.code != http.StatusUnprocessableEntity {
			t.Errorf("%s: %d %s", c.body, got.code, got.body)
			continue
		}
		if !slices.ContainsFunc(said.Errors, func(e *huma.ErrorDetail) bool { return e.Location == c.at && strings.Contains(e.Message, c.says) }) {
			t.Errorf("%s: %s", c.body, got.body)
		}
	}
	if len(g.runs.asked) != 0 {
		t.Errorf("%d runs began", len(g.runs.asked))
	}
	for _, body := range []string{`{"Code":"` + g.code() + `"}`, `{"code":"` + g.code() + `","x":1}`} {
		if got := g.send("POST", "/v1/login", body); got.code != http.StatusUnprocessableEntity {
			t.Errorf("a login with %s: %d %s", body, got.code, got.body)
		}
	}
}

// TestWhatABodyMayBe: a shape refuses what its schema does, and nothing else.
func TestWhatABodyMayBe(t *testing.T) {
	g := guard(t, nil)
	for _, c := range []struct {
		body string
		code int
		says string
	}{
		{`{"prompt":"x"}`, http.StatusCreated, ""},
		{` {"prompt":"x","messages":null} `, http.StatusCreated, ""},
		{`{"prompt":"x","model":null,"timeouts":null}`, 422, "body.timeouts"},
		{`{"prompt":"x","timeouts":{"idle":1000.0}}`, 422, "without a fraction"},
		{`{"prompt":"x","budget":{"tokens":1e30}}`, 422, "at most 64 bits"},
		{`{"prompt":"x","budget":{"tokens":1},"timeouts":{"idle":1000},"fallbacks":["a/b"],"maxRetries":5,"autoRecover":true}`, http.StatusCreated, ""},
		{`{"messages":[{"role":"user","parts":[{"text":"x"},{"image":{"mediaType":"image/png","data":"aGk="}}]}]}`, http.StatusCreated, ""},
		{`{"messages":[{"role":"assistant","parts":[{"call":{"id":"1","name":"n","args":{"Any":[{"any":1}]}}}]}]}`, http.StatusCreated, ""},
		{`{"prompt":"x","maxRetries":6}`, 422, "body.maxRetries"},
		{`{"prompt":"x","maxRetries":1.5}`, 422, "body.maxRetries"},
		{`{"prompt":1}`, 422, "body.prompt"},
		{`{"prompt":{}}`, 422, "body.prompt"},
		{`{"prompt":"x","session":"a b"}`, 422, "body.session"},
		{`{"prompt":"x","messages":{}}`, 422, "body.messages"},
		{`{"messages":[]}`, 422, "fewer than 1 items"},
		{`{"prompt":""}`, 422, "body.prompt"},
		{`{"messages":[{"role":"narrator","parts":[]}]}`, 422, "body.messages[0].role"},
		{`{"messages":[{"role":"user"}]}`, 422, "it lacks parts"},
		{`{"prompt":"x","timeouts":{"idle":"1"}}`, 422, "body.timeouts.idle"},
		{`{"prompt":"x","fallbacks":[` + strings.Repeat(`"a/b",`, 32) + `"a/b"]}`, 422, "more than 32 items"},
		{`{"prompt":"x"} x`, 400, "not JSON"},
		{`{"prompt":"x"}{}`, 400, "something follows"},
		{`{"prompt":"x",}`, 400, "not JSON"},
		{`{"prompt"`, 400, "not JSON"},
		{`[]`, 422, "body"},
		{`null`, 422, "body"},
		{` `, 400, "not JSON"},
	} {
		got := g.send("POST", "/v1/runs", c.body, g.bearer())
		if got.code != c.code || !strings.Contains(got.body, c.says) {
			t.Errorf("%s: %d %s", c.body, got.code, got.body)
		}
	}
}
