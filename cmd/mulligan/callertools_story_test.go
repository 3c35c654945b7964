package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/mulligan-run/mulligan/gateway"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/server"
	"github.com/mulligan-run/mulligan/timeline/sqlite"
)

// TestAToolResultSurvivesKills: the run's caller is asked for a tool call once, and its result is
// used once, although the process that asked is killed, the result is sent four times to another
// process, and that one is killed as soon as it has accepted it.
func TestAToolResultSurvivesKills(t *testing.T) {
	h := newHome(t, `tool:get_temperature:{"city":"Oslo"}, answer:It is 22 degrees., answer:It is 22 degrees., answer:It is 22 degrees.`)
	state := filepath.Join(h.dir, "state", "mulligan")
	asked := h.listening(state)
	var run gateway.Run
	asked.post("/v1/runs", `{"prompt":"hello","autoRecover":true,"tools":[{"name":"get_temperature"}]}`, &run)
	asked.until("the run waits for its caller", func() bool {
		asked.ask(http.MethodGet, "/v1/runs/"+run.ID, "", &run)
		return run.WaitingFor == recovery.WaitTool
	})
	other := h.listening(state)
	asked.kill()
	body := fmt.Sprintf(`{"results":[{"callId":%q,"text":"22 degrees"}]}`, run.Situation.Awaited[0].ID)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() { other.post("/v1/runs/"+run.ID+"/tool-results", body, nil) })
	}
	all.Wait()
	other.kill()
	last := h.listening(state)
	last.until("the run ends", func() bool {
		last.ask(http.MethodGet, "/v1/runs/"+run.ID, "", &run)
		return run.Status == recovery.StatusCompleted
	})
	last.kill()
	log, err := sqlite.Open(t.Context(), state)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	events, err := log.Read(t.Context(), run.ID, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	began, returned := 0, 0
	for _, e := range events {
		switch e.Body.(type) {
		case recovery.ToolBegan:
			began++
		case recovery.ToolReturned:
			returned++
		}
	}
	if began != 1 || returned != 1 || run.Answer.Text != "It is 22 degrees." {
		t.Errorf("asked %d times, %d results; it says %q", began, returned, run.Answer.Text)
	}
}

// answering is a serve that answers.
type answering struct {
	*background
	url, token string
}

// listening starts a serve and waits until it answers.
func (h *home) listening(state string) *answering {
	h.Helper()
	known := map[string]bool{}
	before, _ := server.ListeningNow(state)
	for _, at := range before {
		known[at.URL] = true
	}
	a := &answering{background: h.serve("--listen", "127.0.0.1:0")}
	a.until("it listens", func() bool {
		list, _ := server.ListeningNow(state)
		for _, at := range list {
			if !known[at.URL] {
				a.url = at.URL
			}
		}
		return a.url != ""
	})
	var err error
	if a.token, err = gateway.ReadToken(state); err != nil {
		h.Fatal(err)
	}
	return a
}

func (a *answering) kill() {
	_ = a.cmd.Process.Kill()
	_ = a.cmd.Wait()
}

func (a *answering) post(path, body string, out any) { a.ask(http.MethodPost, path, body, out) }

// ask asks, and reports anything but a success.
func (a *answering) ask(method, path, body string, out any) {
	req, err := http.NewRequestWithContext(a.Context(), method, a.url+path, strings.NewReader(body))
	if err != nil {
		a.Error(err)
		return
	}
	req.Header.Set("Authorization", "Bearer "+a.token)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		a.Error(err)
		return
	}
	defer func() { _ = res.Body.Close() }()
	said, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode/100 != 2 {
		err = fmt.Errorf("%s", res.Status)
	}
	if err == nil && out != nil {
		err = json.Unmarshal(said, out)
	}
	if err != nil {
		a.Errorf("%s: %v: %s", path, err, said)
	}
}
