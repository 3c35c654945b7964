package server

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/gateway"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline/postgres/pgtest"
)

const weatherTool = `{"name":"get_temperature","schema":{"type":"object","required":["city"],"properties":{"city":{"type":"string"}}}}`

// TestCallersTools: a program declares a tool with its run, is asked, and answers; each answer
// that does not count says why.
func TestCallersTools(t *testing.T) { callersTools(t, "", &Reach{Address: "127.0.0.1:0"}) }

// TestCallersToolsOfAnotherMember: the result goes to a member that does not drive the run.
func TestCallersToolsOfAnotherMember(t *testing.T) {
	callersTools(t, pgtest.Database(t), &Reach{Address: "127.0.0.1:0", Role: roleGateway}, &Reach{Address: noFace})
}

func callersTools(t *testing.T, store string, reaches ...*Reach) {
	lab := faultlab.New(faultlab.WithPace(0))
	lab.Script("one", faultlab.ToolCall("get_temperature", `{"city":"Oslo"}`), faultlab.Answer("It is 22 degrees."))
	upstream := httptest.NewServer(lab)
	defer upstream.Close()
	t.Setenv("LAB_KEY", "key-of-the-provider")
	var members []*member
	for _, reach := range reaches {
		m := serveMember(t, store, upstream.URL, reach)
		defer m.stop()
		members = append(members, m)
	}
	ask := asker(t, members[0])
	for _, wrong := range []struct{ tools, field string }{
		{weatherTool + "," + weatherTool, "body.tools[1].name"},
		{`{"name":"a","schema":{"type":"thing"}}`, "body.tools[0].schema"},
		{`{"name":"a","timeoutMs":5}`, "body.tools[0].timeoutMs"},
	} {
		if status, said := ask(http.MethodPost, "", `{"prompt":"hello","tools":[`+wrong.tools+`]}`); status != http.StatusUnprocessableEntity || !strings.Contains(said, wrong.field) {
			t.Errorf("%s: %d %s", wrong.tools, status, said)
		}
	}
	status, said := ask(http.MethodPost, "", `{"prompt":"hello","tools":[`+weatherTool+`]}`)
	run := viewOf(t, said)
	if status != http.StatusCreated {
		t.Fatalf("%d %s", status, said)
	}
	eventually(t, "the run waits for its caller", func() bool {
		_, said = ask(http.MethodGet, "/"+run.ID, "")
		run = viewOf(t, said)
		return run.WaitingFor == recovery.WaitTool
	})
	awaited := run.Situation.Awaited
	if len(awaited) != 1 || awaited[0].Name != "get_temperature" || string(awaited[0].Args) != `{"city":"Oslo"}` {
		t.Fatalf("it waits for %+v", awaited)
	}
	give := func(call, text string) (int, string) {
		return ask(http.MethodPost, "/"+run.ID+"/tool-results", fmt.Sprintf(`{"results":[{"callId":%q,"text":%q}]}`, call, text))
	}
	expect := func(want int, call, text string) {
		t.Helper()
		if status, said := give(call, text); status != want {
			t.Errorf("%s, %.20s: %d %s", call, text, status, said)
		}
	}
	expect(http.StatusNotFound, "another", "22 degrees")
	expect(http.StatusUnprocessableEntity, awaited[0].ID, strings.Repeat("x", 256<<10+1))
	expect(http.StatusAccepted, awaited[0].ID, "22 degrees")
	expect(http.StatusAccepted, awaited[0].ID, "22 degrees")
	expect(http.StatusConflict, awaited[0].ID, "23 degrees")
	eventually(t, "the run ends", func() bool {
		_, said = ask(http.MethodGet, "/"+run.ID, "")
		run = viewOf(t, said)
		return run.Status == recovery.StatusCompleted
	})
	if run.Answer.Text != "It is 22 degrees." {
		t.Errorf("it says %q", run.Answer.Text)
	}
	expect(http.StatusGone, "another", "22 degrees")
}

func viewOf(t *testing.T, said string) (run gateway.Run) {
	t.Helper()
	if err := json.Unmarshal([]byte(said), &run); err != nil {
		t.Fatalf("%s: %v", said, err)
	}
	return run
}

// asker asks the API about runs, at a path below theirs.
func asker(t *testing.T, m *member) func(method, path, body string) (int, string) {
	t.Helper()
	var url string
	eventually(t, "the gateway listens", func() bool {
		list, err := ListeningNow(m.Dir)
		if err == nil && len(list) > 0 {
			url = list[0].URL
		}
		return url != ""
	})
	token, err := gateway.ReadToken(m.Dir)
	if err != nil {
		t.Fatal(err)
	}
	return func(method, path, body string) (int, string) {
		req, err := http.NewRequestWithContext(t.Context(), method, url+"/v1/runs"+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
		req.Header.Set("Content-Type", "application/json")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = res.Body.Close() }()
		said, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, string(said)
	}
}
