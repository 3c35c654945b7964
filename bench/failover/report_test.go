package failover

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

var rewrite = flag.Bool("rewrite", false, "write docs/failover-report.md anew")

var path = filepath.Join("..", "..", "docs", "failover-report.md")

var modes = []string{"hold", "continue"}

// settings are callers of every wire, each with a fallback on its own wire and one on another.
func settings(mode string, alone bool) (list []setting) {
	another := map[string]string{"anthropic": "openai", "openai": "anthropic", "openai-responses": "gemini", "gemini": "openai-responses"}
	for _, wire := range []string{"anthropic", "openai", "openai-responses", "gemini"} {
		list = append(list, setting{wire, wire, mode, alone})
		if !alone {
			list = append(list, setting{wire, another[wire], mode, alone})
		}
	}
	return list
}

func (s setting) String() string { return s.mode + ", " + s.wire + " before " + s.spare }

// TestFailover plays every situation for every caller, checks its limits, and requires that the
// report in docs is current.
func TestFailover(t *testing.T) {
	lines := []string{}
	for _, it := range situations {
		t.Run(it.name, func(t *testing.T) {
			line := fmt.Sprintf("| %s | %s |", it.name, it.limit)
			for _, mode := range modes {
				var worst measured
				for _, s := range settings(mode, it.alone) {
					t.Run(s.String(), func(t *testing.T) {
						synctest.Test(t, func(t *testing.T) {
							time.Sleep(time.Until(noon))
							worst = worst.worse(it.play(t, s, pipes))
							time.Sleep(time.Hour) // for everything that still sleeps
						})
					})
				}
				line += " " + worst.String() + " |"
			}
			lines = append(lines, line)
			t.Log(line)
		})
	}
	if !t.Failed() {
		compare(t, lines)
	}
}

// play plays the situation in a world of its own.
func (it situation) play(t *testing.T, s setting, connect func(*testing.T) network) measured {
	t.Helper()
	w := open(t, s, connect)
	defer w.close()
	it.plays(w, s)
	return it.judge(w, s, w.calls(s))
}

// TestFailoverOnTCP plays the quick situations over real connections, which are really reset.
func TestFailoverOnTCP(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a minute: make test-all plays it")
	}
	var all sync.WaitGroup // t.Parallel would run only as many at a time as there are processors
	for _, it := range situations {
		if strings.HasPrefix(it.name, "flapping") {
			continue
		}
		for _, mode := range modes {
			for _, s := range settings(mode, it.alone) {
				all.Go(func() {
					t.Run(it.name+"/"+s.String(), func(t *testing.T) { it.play(t, s, loopback) })
				})
			}
		}
	}
	all.Wait()
}

func (m measured) String() string {
	var said []string
	tell := func(is bool, format string, args ...any) {
		if is {
			said = append(said, fmt.Sprintf(format, args...))
		}
	}
	tell(m.requests > 0, "%d requests", m.requests)
	tell(m.early > 0 && m.early < m.requests, "%d in 3 s", m.early)
	tell(m.first > 0 && m.first < m.took, "first text %.1f s", m.first.Seconds())
	tell(m.took > 0, "whole %.1f s", m.took.Seconds())
	tell(m.back > 0, "back %.1f s", m.back.Seconds())
	return strings.ReplaceAll(strings.Join(said, ", "), "1 requests", "1 request")
}

const preface = `# What a proxied call survives

` + "`make failover-report`" + ` writes this page: it plays the sixteen situations of the public Failover Bench, in our own words of them, to the
recovering proxy as ` + "`mulligan proxy`" + ` assembles it, and holds what comes of them against the limits. Each row is the worst of eight callers
(four where there is no fallback): those of Messages, Chat Completions, Responses and Gemini, each with a fallback of its own wire and
one of another. The auto-recover policy makes the longest pauses that it may. Time is virtual: a provider takes 0.3 s to begin, and 50 ms
from word to word. *whole* is when the caller has all of the answer. Flapping is 5 s broken and 5 s well in turns; *back* is when the
provider is asked again after it has become well for good.

| situation | limit | hold | continue |
|---|---|---|---|
`

// compare requires that the report has each situation with its limit. With -rewrite it writes what
// was measured.
func compare(t *testing.T, lines []string) {
	t.Helper()
	if *rewrite {
		if err := os.WriteFile(path, []byte(preface+strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	kept, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(kept), preface) || strings.Count(string(kept), "\n") != strings.Count(preface, "\n")+len(situations) {
		t.Errorf("docs/failover-report.md has other situations; run: make failover-report")
	}
	for _, it := range situations {
		if !strings.Contains(string(kept), "\n| "+it.name+" | "+it.limit+" | ") {
			t.Errorf("docs/failover-report.md lacks %q, %q; run: make failover-report", it.name, it.limit)
		}
	}
}
