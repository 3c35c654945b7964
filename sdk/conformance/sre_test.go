package conformance

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/host"
	"github.com/mulligan-run/mulligan/recovery"
)

const srePlugin = examplePlugins + "sre/"

// moment is one line of the recorded week: an occasion for the plugin.
type moment struct {
	At           time.Time    `json:"at"`
	Call         bool         `json:"call"` // a call is about to begin; else one has failed
	Model        string       `json:"model"`
	Alternatives []string     `json:"alternatives"`
	Tried        []string     `json:"tried"`
	Kind         failure.Kind `json:"kind"`
	Status       int          `json:"status"`
}

// occasion is the moment as a plugin is asked about it.
func (m moment) occasion() hooks.Occasion {
	var alternatives []recovery.Alternative
	for _, model := range m.Alternatives {
		alternatives = append(alternatives, recovery.Alternative{Model: model})
	}
	var tried []recovery.Tried
	for i, model := range m.Tried {
		tried = append(tried, recovery.Tried{Attempt: i, Model: model, At: m.At})
	}
	if m.Call {
		return hooks.BeforeCall{Run: "r", Model: recovery.Alternative{Model: m.Model}, Alternatives: alternatives, Tried: tried, Round: 1, Time: m.At}
	}
	entry, _, _ := strings.Cut(m.Model, "/")
	return hooks.RunError{
		Run: "r", Model: m.Model, Alternatives: alternatives, Tried: tried, Time: m.At,
		Failure: failure.Failure{Kind: m.Kind, Model: m.Model, Provider: entry, HTTPStatus: m.Status},
	}
}

func recordedWeek(t *testing.T) []moment {
	t.Helper()
	f, err := os.Open(top + srePlugin + "week.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	var week []moment
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var m moment
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			t.Fatal(err)
		}
		week = append(week, m)
	}
	if len(week) < 100 {
		t.Fatalf("the week has %d moments", len(week))
	}
	return week
}

// pager is who is paged.
type pager struct {
	*httptest.Server
	mu    sync.Mutex
	pages []string
}

func newPager(t *testing.T) *pager {
	t.Helper()
	p := &pager{}
	p.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		var page struct{ Reason string }
		_ = json.Unmarshal(text, &page)
		p.mu.Lock()
		defer p.mu.Unlock()
		p.pages = append(p.pages, page.Reason)
	}))
	t.Cleanup(p.Close)
	return p
}

func (p *pager) got() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Sorted(slices.Values(p.pages))
}

// play asks a plugin about the whole week, in a host that is a new one every third day.
func playWeek(t *testing.T, week []moment, spec host.Spec) (said []string) {
	t.Helper()
	dir, day := t.TempDir(), -1
	var h *host.Host
	spec.Occasions = []string{recovery.HookRunError, recovery.HookBeforeCall}
	for i, m := range week {
		if m.At.YearDay() > day+2 || day < 0 {
			if h != nil {
				_ = h.Close()
			}
			h, day = host.New(host.WithStateDir(dir)), m.At.YearDay()
			t.Cleanup(func() { _ = h.Close() })
			if err := h.Add(spec); err != nil {
				t.Fatal(err)
			}
		}
		within := hooks.Deadlines{Start: time.Minute, Each: time.Minute, All: time.Minute, Call: time.Minute}
		hooks.Dispatch(t.Context(), h.Hooks(), m.occasion(), within, func(v recovery.Vote) {
			if v.Error != "" {
				t.Fatalf("moment %d: %s", i, v.Error)
			}
			said = append(said, fmt.Sprintf("%s %s %s %q forbids %q", m.At.Format(time.DateTime), v.Action, v.NewModel, v.Reason, v.Restrict.InWords()))
		})
	}
	return said
}

// TestTheSREPluginTwice: 25 lines of rules and 60 of Python decide the same on a recorded week, page the
// same, and remember over restarts.
func TestTheSREPluginTwice(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: a week is asked of two programs")
	}
	week := recordedWeek(t)
	python := pythonSRE(t)
	rulesPager, pythonPager := newPager(t), newPager(t)
	python.Env = append(python.Env, "PAGER="+pythonPager.URL)

	text, err := os.ReadFile(top + srePlugin + "recovery.yaml")
	if err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile(top + srePlugin + "sre.py")
	if err != nil {
		t.Fatal(err)
	}
	if rows, lines := strings.Count(string(text), "\n"), strings.Count(string(script), "\n"); rows > 25 || lines > 60 {
		t.Errorf("%d lines of rules, %d of Python", rows, lines)
	}
	file := filepath.Join(t.TempDir(), "recovery.yaml")
	here := strings.Replace(string(text), "http://127.0.0.1:9099", rulesPager.URL, 1)
	if err := os.WriteFile(file, []byte(here), 0o600); err != nil || here == string(text) {
		t.Fatal(err)
	}
	config, err := json.Marshal(map[string]string{"file": file})
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	byRules := playWeek(t, week, host.Spec{Name: "rules", Command: []string{program}, Env: []string{"SERVE_RULES=1"}, Config: config})
	byPython := playWeek(t, week, host.Spec{Name: "sre", Command: python.Args, Env: python.Env})
	kinds := map[string]int{}
	for i := range week {
		if byRules[i] != byPython[i] {
			t.Errorf("moment %d, %+v:\nrules  %s\npython %s", i, week[i], byRules[i], byPython[i])
		}
		kinds[strings.Fields(byRules[i])[2]]++
	}
	if kinds["route"] == 0 || kinds["switch_model"] == 0 || len(kinds) < 3 {
		t.Errorf("the week says little: %v", kinds)
	}
	for began := time.Now(); !slices.Equal(rulesPager.got(), pythonPager.got()) || len(rulesPager.got()) < 3; time.Sleep(10 * time.Millisecond) {
		if time.Since(began) > 10*time.Second {
			t.Fatalf("pages: rules %q, python %q", rulesPager.got(), pythonPager.got())
		}
	}
}

// pythonSRE is the plugin in Python with the SDK as it is installed.
func pythonSRE(t *testing.T) Command {
	t.Helper()
	for _, l := range languages() {
		if l.name == "python" {
			made := l.command(t)
			script, err := filepath.Abs(top + srePlugin + "sre.py")
			if err != nil {
				t.Fatal(err)
			}
			return Command{Args: []string{made.Args[0], script}, Env: made.Env}
		}
	}
	t.Fatal("there is no Python")
	return Command{}
}
