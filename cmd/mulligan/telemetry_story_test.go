package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// collector is where OTLP goes: what was sent, by its path.
type collector struct {
	*httptest.Server
	mu   sync.Mutex
	sent map[string]string
}

func newCollector(t *testing.T) *collector {
	t.Helper()
	c := &collector{sent: map[string]string{}}
	c.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.sent[r.URL.Path] += string(body)
	}))
	t.Cleanup(c.Close)
	return c
}

func (c *collector) got(path string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sent[path]
}

// TestServeIsMeasured: a run that recovers is seen in /metrics, by whoever has the token
// (S31), in a collector's traces and metrics, and in a log of JSON lines; what was said is
// in none of them (S15).
func TestServeIsMeasured(t *testing.T) {
	t.Parallel()
	const answer = "the canary answered at dusk"
	h := newHome(t, "503, answer:"+answer)
	to := newCollector(t)
	h.env = append(h.env, "OTEL_EXPORTER_OTLP_ENDPOINT="+to.URL, "MULLIGAN_DEBUG=1")
	c := h.serveHTTP()
	code, told := c.ask("POST", "/v1/runs", `{"autoRecover":true,"prompt":"`+canaryPrompt+`"}`)
	if code != http.StatusCreated {
		t.Fatalf("start: %d %s", code, told)
	}
	id := regexp.MustCompile(`"id":"(r\w+)"`).FindStringSubmatch(told)[1]
	c.prints("msg=completed run=" + id)
	resp, err := http.Get(c.url + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("S31: metrics without the token: %d", resp.StatusCode)
	}
	code, metrics := c.ask("GET", "/metrics", "")
	for _, line := range []string{
		"mulligan_runs_recovered_total 1",
		`mulligan_attempts_total{kind="unavailable",model="fable/one",outcome="failed",provider="fable"} 1`,
		`mulligan_decisions_total{action="retry",plugin="auto-recover"} 1`,
		"go_goroutines ",
	} {
		if code != http.StatusOK || !strings.Contains(metrics, "\n"+line) {
			t.Errorf("/metrics: %d, without %s:\n%s", code, line, metrics)
		}
	}
	c.stop()
	for path, words := range map[string][]string{
		"/v1/traces":  {id, "chat one", "gen_ai.provider.name", "unavailable", "service.name", "POST /v1/runs"},
		"/v1/metrics": {"mulligan.attempts", "mulligan.hook.duration"},
	} {
		for _, word := range words {
			if !strings.Contains(to.got(path), word) {
				t.Errorf("%s was not sent %s", path, word)
			}
		}
	}
	for where, text := range map[string]string{
		"/metrics": metrics, "a trace": to.got("/v1/traces"), "metrics that were sent": to.got("/v1/metrics"), "the log": c.printed(),
	} {
		for _, said := range []string{canaryPrompt, answer, c.token} {
			if strings.Contains(text, said) {
				t.Errorf("S15: %q is in %s", said, where)
			}
		}
	}
}

// TestServeLogsJSON: each line is JSON and names its run; no line says what was said (S15).
func TestServeLogsJSON(t *testing.T) {
	t.Parallel()
	const answer = "the canary answered at dusk"
	h := newHome(t, "stall:Hello wor, 401, answer:"+answer)
	printed, _ := h.kill(stalled, nil, "--auto-recover", canaryPrompt)
	run := h.kept(printed)
	b := h.serve("--json")
	b.prints(fmt.Sprintf(`"run":%q,"model":"fable/one"`, run))
	b.stop()
	named := 0
	for line := range strings.Lines(b.printed()) {
		var event map[string]any
		if err := json.Unmarshal([]byte(line), &event); err != nil && !strings.HasPrefix(line, "Stopping") {
			t.Errorf("it logs %q: %v", line, err)
		}
		if event["run"] == run {
			named++
		}
	}
	if named < 2 {
		t.Errorf("%d lines name the run:\n%s", named, b.printed())
	}
	for _, said := range []string{canaryPrompt, answer, "Hello wor"} {
		if strings.Contains(b.printed(), said) {
			t.Errorf("S15: %q is in the log:\n%s", said, b.printed())
		}
	}
}
