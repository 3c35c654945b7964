package timers

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/failure/words"
)

var rewrite = flag.Bool("rewrite", false, "write docs/timers-report.md anew")

var path = filepath.Join("..", "..", "docs", "timers-report.md")

// TestStories plays each story over every wire, requires what the table says, and requires that the
// report in docs is current.
func TestStories(t *testing.T) {
	stories := allStories()
	for i := range stories {
		s := &stories[i]
		t.Run(s.name+", "+s.timers+", "+s.mode, func(t *testing.T) {
			for _, e := range entries {
				if !s.audience.has(e) {
					continue
				}
				s.shown = append(s.shown, e)
				t.Run(e.name, func(t *testing.T) {
					if got, want := play(t, e, s.scenario), s.wantOf(e); got != want {
						t.Errorf("\n got %+v\nwant %+v", got, want)
					}
				})
			}
		})
	}
	if t.Failed() {
		return
	}
	compare(t, report(stories))
}

// wantOf is the outcome that is wanted of one provider.
func (s story) wantOf(e entry) outcome {
	o, name := s.want, words.ProviderName(e.name)
	check := "It is on this computer: is it running?" // every entry here is, but the well-known ones seldom are
	if words.StatusURL(e.name) != "" {
		check = "Check your Internet connection or " + name + " status."
	}
	o.Words = strings.NewReplacer("{provider}", name, "{Check it.}", check).Replace(o.Words)
	return o
}

func compare(t *testing.T, got string) {
	t.Helper()
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
	a, b := strings.Split(string(kept), "\n"), strings.Split(got, "\n")
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i] != b[i] {
			t.Fatalf("docs/timers-report.md is not what becomes of the stories, from line %d on; run: make timers-report", i+1)
		}
	}
}

const preface = `# What goes quiet, and what ends it

` + "`make timers-report`" + ` writes this page: it plays everything that can go quiet in a run, over every wire, to the real runner
and demands what stands here. A test fails when a row changes. Time is virtual, and compared to the millisecond.

- *timers*: what is built in, or one clock alone. A local model server is given more time.
- *auto-recover*: off, the decision is only offered, after exactly one request. On, it is acted on within the limits; what
  stays so is given up after 3 retries, with pauses of 1 s, 2 s and 4 s, and offered then.
- *the hook saw*: the clock, how long it had run, what the run did last and for how long, and how often in a row the model
  had kept silent, at each call.
- *the end*: what is suggested, and the stop reason of the run once a person has stopped it there.
- A provider that says anything begins 1 s after the request.

| situation | timers | auto-recover | failure | clock, phase | words | the hook saw | requests | settled after | the end | providers |
|---|---|---|---|---|---|---|---|---|---|---|
`

// report is docs/timers-report.md.
func report(stories []story) string {
	var b strings.Builder
	b.WriteString(preface)
	cells := 0
	for _, s := range stories {
		o := s.wantOf(s.shown[0])
		var names []string
		for _, e := range s.shown {
			names = append(names, e.name)
		}
		who := strings.Join(names, ", ")
		if len(names) == len(entries) {
			who = "all"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s | %d | %s | %s | %s |\n",
			s.name, s.timers, s.mode, o.Failure, o.Timer, o.Words, o.Hook, o.Requests, words.Duration(o.After), o.End, who)
		cells += len(names)
	}
	fmt.Fprintf(&b, "\n%d rows, %d runs. The providers: ", len(stories), cells)
	for i, e := range entries {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(e.name)
	}
	b.WriteString(".\n")
	return b.String()
}
