package clients

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

var (
	rewrite = flag.Bool("rewrite", false, "play every fault with every client, directly and through the proxy, and write docs/proxy-report.md anew")
	missing = flag.Bool("missing", false, "with -rewrite: only what was not measured yet")
)

const measured = "testdata/measured.tsv"

// pair is the outcome of a conversation without and with the proxy.
type pair struct {
	client, fault string
	direct        verdict
	proxied       verdict
}

// TestReport compares docs/proxy-report.md with the measurements, which must be right everywhere
// with the proxy. With -rewrite it measures first, all clients or those of -clients.
func TestReport(t *testing.T) {
	pairs := readMeasured(t)
	if *rewrite {
		pairs = measure(t, pairs)
	}
	for _, p := range pairs {
		if p.proxied != right {
			t.Errorf("%s, %s: with the proxy it is %s", p.client, p.fault, p.proxied)
		}
	}
	for _, c := range reported(pairs) {
		for _, f := range faults {
			if _, ok := find(pairs, c.name, f.name); !ok {
				t.Errorf("%s, %s was not measured: make proxy-report", c.name, f.name)
			}
		}
	}
	path := filepath.Join("..", "..", "docs", "proxy-report.md")
	text := report(t, pairs)
	if *rewrite {
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if kept, err := os.ReadFile(path); err != nil || !bytes.Equal(kept, text) {
		t.Errorf("docs/proxy-report.md is not what was measured with these clients (%v); run: make proxy-report", err)
	}
}

// reported are the clients that were measured.
func reported(pairs []pair) []client {
	return slices.DeleteFunc(slices.Clone(clients), func(c client) bool {
		return !slices.ContainsFunc(pairs, func(p pair) bool { return p.client == c.name })
	})
}

func find(pairs []pair, client, fault string) (pair, bool) {
	i := slices.IndexFunc(pairs, func(p pair) bool { return p.client == client && p.fault == fault })
	if i < 0 {
		return pair{}, false
	}
	return pairs[i], true
}

// conversation is one that is to be measured.
type conversation struct {
	client
	fault
}

// measure plays what was asked for, and keeps the known measurements of everything else.
func measure(t *testing.T, known []pair) []pair {
	t.Helper()
	var todo []conversation
	for _, c := range clients {
		for _, f := range faults {
			if _, ok := find(known, c.name, f.name); c.wanted() && !c.rare && (!ok || !*missing) {
				todo = append(todo, conversation{c, f})
			}
		}
	}
	if len(todo) == 0 {
		return known
	}
	s := set(t)
	var mu sync.Mutex
	t.Run("measure", func(t *testing.T) {
		for _, m := range todo {
			t.Run(m.client.name+"/"+m.fault.name, func(t *testing.T) {
				t.Parallel()
				p := s.measure(t, m)
				mu.Lock()
				defer mu.Unlock()
				known = inOrder(append(slices.DeleteFunc(known, func(k pair) bool { return k.client == p.client && k.fault == p.fault }), p))
				if err := os.WriteFile(measured, format(known), 0o644); err != nil {
					t.Error(err)
				}
			})
		}
	})
	return known
}

// measure plays a conversation directly, and then through the proxy.
func (s *setup) measure(t *testing.T, m conversation) pair {
	t.Helper()
	s.installed(t, m.client)
	direct, proxied := s.play(t, m.client, m.fault, false), s.play(t, m.client, m.fault, true)
	if proxied.verdict != right {
		t.Error(proxied.out)
	}
	t.Logf("%s, then %s after %v: %s", direct.verdict, proxied.verdict, proxied.took, proxied.line)
	return pair{m.client.name, m.fault.name, direct.verdict, proxied.verdict}
}

// inOrder sorts pairs by client and fault, and drops unknown ones.
func inOrder(pairs []pair) (list []pair) {
	for _, c := range clients {
		for _, f := range faults {
			if p, ok := find(pairs, c.name, f.name); ok {
				list = append(list, p)
			}
		}
	}
	return list
}

func readMeasured(t *testing.T) (pairs []pair) {
	t.Helper()
	text, err := os.ReadFile(measured)
	if err != nil && !*rewrite {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if f := strings.Split(strings.TrimSpace(line), "\t"); len(f) == 4 {
			pairs = append(pairs, pair{f[0], f[1], verdict(f[2]), verdict(f[3])})
		}
	}
	return pairs
}

func format(pairs []pair) []byte {
	var out bytes.Buffer
	for _, p := range pairs {
		fmt.Fprintf(&out, "%s\t%s\t%s\t%s\n", p.client, p.fault, p.direct, p.proxied)
	}
	return out.Bytes()
}

// signs are the report's words for verdicts.
var signs = map[verdict]string{right: "✓", failed: "error", wrong: "wrong", hangs: "none", double: "twice", "": "?"}

func report(t *testing.T, pairs []pair) []byte {
	t.Helper()
	var out bytes.Buffer
	listed := reported(pairs)
	out.WriteString(`# Real clients through the proxy

Written by ` + "`make proxy-report`" + ` (bench/clients). Each program is as its registry has it. It asks what to wear in Oslo, is told to look at the
weather first, runs its tool, and is told what to wear; in between the provider fails. Beside it there is another model, on another wire, that
is well. Where a fault is said to last, the provider fails from the moment when the tool has run; a fault in the middle of an answer comes once
after the tool ran; each other comes twice, once before and once after the tool.

Each cell says what became of it without the proxy, and then with it:

- ✓: the right answer, once, and the tool ran once
- error: the program ended with an error
- none: no answer 30 s after its first request without the proxy, which may mean that it still tries
- wrong: it ended as if all were well, with a part of the answer or none
- twice: the tool ran more than once, or text was there twice

With the proxy ` + "`first_event` and `idle` are 8 s here" + `, so that this is measured sooner; everything else is as it is without a configuration.

## Who was asked

| program | version | right without the proxy | right with it |
|---|---|---|---|
`)
	for _, c := range listed {
		var direct, proxied int
		for _, p := range pairs {
			if p.client != c.name {
				continue
			}
			direct += one(p.direct == right)
			proxied += one(p.proxied == right)
		}
		fmt.Fprintf(&out, "| %s | %s | %d of %d | %d of %d |\n", c.name, c.version(t), direct, len(faults), proxied, len(faults))
	}
	var left []string
	for _, c := range clients {
		if !slices.ContainsFunc(listed, func(l client) bool { return l.name == c.name }) {
			left = append(left, c.name+" "+c.version(t))
		}
	}
	if len(left) > 0 {
		out.WriteString("\nNot measured here: " + strings.Join(left, ", ") + ". `make test-all` plays a few faults with each that is installed.\n")
	}
	half := len(listed) / 2
	for _, part := range [][]client{listed[:half], listed[half:]} {
		out.WriteString("\n| fault |")
		for _, c := range part {
			out.WriteString(" " + c.name + " |")
		}
		out.WriteString("\n|---|" + strings.Repeat("---|", len(part)) + "\n")
		for _, f := range faults {
			out.WriteString("| " + f.name + lasts(f) + " |")
			for _, c := range part {
				p, _ := find(pairs, c.name, f.name)
				out.WriteString(" " + signs[p.direct] + ", " + signs[p.proxied] + " |")
			}
			out.WriteString("\n")
		}
	}
	return out.Bytes()
}

func lasts(f fault) string {
	if f.where == down && !strings.Contains(f.name, "from then on") {
		return "; it lasts"
	}
	return ""
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// version is the client's version, from the file that pins it.
func (c client) version(t *testing.T) string {
	t.Helper()
	for _, file := range []string{"node/package.json", "python/requirements.txt", "aider/requirements.txt", "../../internal/compat/go.mod"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if version, ok := strings.CutPrefix(strings.TrimSpace(line), c.pinned); ok {
				return strings.Trim(version, `",`)
			}
		}
	}
	t.Errorf("nothing pins %s", c.name)
	return "?"
}
