package faults

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/faultlab/catalogue"
)

var rewrite = flag.Bool("rewrite", false, "write docs/faults.md anew")

// offline is the column of the report for a row that no wire carries.
const offline = "offline"

// line is a row of the report: a script, and what became of it in each column.
type line struct {
	name   string
	row    catalogue.Row
	expect catalogue.Expectation
	cells  map[string]cell
}

// cell is what became of a script in one column.
type cell struct {
	got  string
	want bool // it is as expected
}

// TestCatalogue plays every script and compares the report with the one in docs. A row
// that is not as it should be fails by itself, so that it is seen which.
func TestCatalogue(t *testing.T) {
	lines := playCatalogue(t)
	for _, l := range lines {
		for column, c := range l.cells {
			if !c.want {
				t.Errorf("%s, %s: %s, want %s", l.name, column, c.got, wanted(l.expect))
			}
		}
	}
	path := filepath.Join("..", "..", "docs", "faults.md")
	got := report(lines, readCorpora(t))
	if *rewrite {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	kept, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(kept) != got {
		t.Errorf("docs/faults.md is not what becomes of the catalogue: %s; run: make classify-report", firstDifference(string(kept), got))
	}
}

func firstDifference(kept, got string) string {
	a, b := strings.Split(kept, "\n"), strings.Split(got, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("line %d is\n%s\nand should be\n%s", i+1, a[i], b[i])
		}
	}
	return fmt.Sprintf("it has %d lines and should have %d", len(a), len(b))
}

func playCatalogue(t *testing.T) []line {
	var lines []line
	became := readOffline(t)
	at := map[string]int{}
	for _, s := range catalogue.All() {
		i, known := at[s.Name()]
		if !known {
			i = len(lines)
			at[s.Name()] = i
			row, ok := catalogue.Find(s.Row)
			if !ok {
				t.Fatalf("%s is no row", s.Row)
			}
			lines = append(lines, line{name: s.Name(), row: row, expect: s.Expect, cells: map[string]cell{}})
			if f := became[row.ID]; f != nil && s.Variant == "" {
				lines[i].cells[offline] = judge(verdict{failure: f}, wantOffline(row, s))
			}
		}
		if s.Wire != "" {
			lines[i].cells[s.Wire] = judge(playScript(t, s), s.Expect)
		}
	}
	playTransports(t, lines)
	for _, row := range catalogue.Rows() {
		if _, ok := at[row.ID]; !ok {
			t.Errorf("%s has no script", row.ID)
		}
	}
	return lines
}

// playTransports plays what is below HTTP side by side, since its time is real.
func playTransports(t *testing.T, lines []line) {
	t.Helper()
	var mu sync.Mutex
	t.Run("below HTTP", func(t *testing.T) {
		for _, l := range lines {
			s := catalogue.Scripts(l.name)[0]
			for _, wire := range catalogue.Wires() {
				if s.Transport == "" {
					continue
				}
				t.Run(l.name+"/"+wire, func(t *testing.T) {
					t.Parallel()
					if v, ok := playTransport(t, wire, s.Transport); ok {
						mu.Lock()
						defer mu.Unlock()
						l.cells[wire] = judge(v, s.Expect)
					}
				})
			}
		}
	})
}

func playScript(t *testing.T, s catalogue.Script) verdict {
	t.Helper()
	step, err := faultlab.Row(s.Name())
	if err != nil {
		t.Fatal(err)
	}
	return inBubble(t, s.Wire, s.Wire, step, step, step, step, faultlab.Answer("after the fault")) // a model that goes astray is told so three times
}

// judge compares what became of a script with what is expected of it.
func judge(v verdict, want catalogue.Expectation) cell {
	c := cell{got: spell(v), want: true}
	if v.failure == nil {
		c.want = want.Answer && (want.Text == "" || v.text == want.Text)
		return c
	}
	f := v.failure
	c.want = string(f.Kind) == want.Kind &&
		(want.Retryable == nil || f.Retryable == *want.Retryable) &&
		(want.Wait == nil || f.RetryAfter.Duration() == *want.Wait) &&
		(want.ResetsAt.IsZero() || f.ResetsAt.Equal(want.ResetsAt))
	return c
}

// spell is what became of a script, in short.
func spell(v verdict) string {
	if v.failure == nil {
		return fmt.Sprintf("answer %q", v.text)
	}
	return inShort(string(v.failure.Kind), v.failure.Retryable, v.failure.RetryAfter.Duration())
}

func inShort(kind string, retryable bool, wait time.Duration) string {
	text := kind
	if !retryable {
		text += ", no retry"
	}
	if wait > 0 {
		text += ", after " + words.Spell(wait)
	}
	return text
}

func wanted(e catalogue.Expectation) string {
	if e.Answer {
		return catalogue.Answer
	}
	text := e.Kind
	if e.Retryable != nil && !*e.Retryable {
		text += ", no retry"
	}
	if e.Wait != nil && *e.Wait > 0 {
		text += ", after " + words.Spell(*e.Wait)
	}
	if !e.ResetsAt.IsZero() {
		text += ", resets " + e.ResetsAt.Format(time.RFC3339)
	}
	return text
}

// readCorpora is what failure's own test makes of the corpora of real errors.
func readCorpora(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "failure", "testdata", "corpora.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// report is docs/faults.md.
func report(lines []line, corpora string) string {
	columns := append([]string{offline}, catalogue.Wires()...)
	right, cells := 0, 0
	var table strings.Builder
	for _, l := range lines {
		fmt.Fprintf(&table, "| %s | %s | %s | %s |", l.name, strings.ReplaceAll(l.row.Provider, "*", "any"), l.row.Class, wanted(l.expect))
		for _, column := range columns {
			c, played := l.cells[column]
			switch {
			case !played:
				table.WriteString(" |")
				continue
			case c.want:
				right++
				table.WriteString(" ✓ |")
			default:
				table.WriteString(" **" + c.got + "** |")
			}
			cells++
		}
		table.WriteString("\n")
	}
	var b strings.Builder
	b.WriteString("# The fault catalogue, and what Mulligan makes of it\n\n" +
		"`make classify-report` writes this page: it plays every row of the catalogue to the real runner over each wire that\n" +
		"the row is for, and classifies the row as it stands in the table beside it. A test fails when anything here changes.\n\n" +
		"Expected is the kind of failure, whether the same input may be sent again, and what the provider demands to be waited.\n" +
		"✓: exactly that became of it. An empty cell: the row is not for that wire. `mulligan faults list` tells each row's story,\n" +
		"`mulligan faults serve` plays it to your own agent.\n\n")
	fmt.Fprintf(&b, "**%d of %d right**, %d rows in %d scripts.\n\n", right, cells, len(catalogue.Rows()), len(lines))
	b.WriteString("| row | provider | fault | expected | " + strings.Join(columns, " | ") + " |\n|" + strings.Repeat("---|", 4+len(columns)) + "\n")
	return b.String() + table.String() + unseen + corpora
}

// unseen tells what the tables of the corpora are.
const unseen = `
## Errors that nobody has seen before

Providers word the same few things in ever new ways, so a table of known errors is no measure of what comes tomorrow. These
are corpora of real errors, each labelled by a reader with the kinds that are right for it before Mulligan was asked.
*Right at first sight* is what the rules made of them when they had never seen them: that is how well they generalise. *Right now*
holds for rules that have learned from them since, and only keeps what is known from getting lost.

A mistake is counted as dangerous where it does harm: what must not be repeated (auth, billing, invalid_request, content_filter)
taken for something that is tried again and again; what will pass (a timeout, a full server, a broken connection) given up; a
conversation that is too long taken for anything else, since it would loop. There may be none. ` + "`unknown`" + ` is no such mistake: it is tried once more.

How it is done: a code, a sentence or a status that is known decides first. What is left is read word by word: what it speaks of (money, a
key, a model, a connection, …) and what it says of that (it lacks, it is exceeded, it is gone, …), by stems of words in ten
languages, in the text and in codes such as ` + "`BILLING_PAUSED`" + `. ` + "`go doc ./failure`" + ` tells what counts more than what, and why.
` + "`mulligan explain`" + ` tells how sure it is: of a hundred unseen errors recognised in the same way, how many were so.

How fast that is differs by machine, so it is printed and not written down: ` + "`make classify-report`" + ` says how long a message takes, and
` + "`go test ./failure -run XXX -bench Classify`" + ` how long 4 KiB do.

`
