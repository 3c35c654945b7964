package sqlite

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// said writes so many runs, each of which began with what text says of its number.
func said(t *testing.T, s opened, runs int, text func(int) string) {
	t.Helper()
	at := time.Unix(1_772_000_000, 0)
	var all sync.WaitGroup
	for i := range runs {
		all.Go(func() {
			run := fmt.Sprint("run", i)
			l, err := s.Begin(t.Context(), run, "me", time.Hour, func(timeline.Lease) []recovery.Event {
				return []recovery.Event{
					{Run: run, Seq: 1, Time: at, Body: recovery.Started{Input: []llm.Message{llm.User(text(i))}, Labels: recovery.Labels{"run": run}}},
					{Run: run, Seq: 2, Time: at, Body: recovery.Ended{Status: recovery.StatusCompleted}},
				}
			})
			if err == nil {
				err = s.Release(t.Context(), l)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// found are the runs that q finds.
func found(t *testing.T, s opened, q timeline.Query) string {
	t.Helper()
	list, err := s.List(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	var runs []string
	for _, summary := range list {
		runs = append(runs, summary.Run)
	}
	return strings.Join(runs, " ")
}

// TestSearchAcrossPieces: words are found before and after they have moved into the index with
// others, and so are those that have changed since; what they were before is not kept.
func TestSearchAcrossPieces(t *testing.T) {
	s := open(t, t.TempDir())
	l, err := s.Claim(t.Context(), "early", "me", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	seq := uint64(0)
	goesOn := func(body recovery.Body) {
		t.Helper()
		seq++
		if err := s.Append(t.Context(), l, seq-1, recovery.Event{Run: "early", Seq: seq, Time: time.Unix(1_772_000_000, 0), Body: body}); err != nil {
			t.Fatal(err)
		}
	}
	fails := func(title string) {
		t.Helper()
		failed := recovery.Failed{Attempt: 1}
		failed.Failure.Kind, failed.Failure.Title = failure.KindOverloaded, title
		goesOn(failed)
	}
	goesOn(recovery.Started{Input: []llm.Message{llm.User("An early bird")}})
	fails("Snails are late")
	said(t, s, few+100, func(i int) string { return fmt.Sprintf("Number <%d>", i) })
	fails("Worms are out")
	for text, want := range map[string]string{
		"<3>": "run3", "<300>": "run300", "<1099>": "run1099", "<1100>": "", "early bird": "early", "worms": "early", "bird\nworms": "early", "snails": "",
	} {
		if got := found(t, s, timeline.Query{Text: text}); got != want {
			t.Errorf("%q: %q, not %q", text, got, want)
		}
	}
	if got := found(t, s, timeline.Query{Text: "number", Labels: recovery.Labels{"run": "run7"}}); got != "run7" {
		t.Errorf("run7 by its label: %q", got)
	}
	for i := range 256 {
		fails(fmt.Sprint("Worms are out ", i%2))
	}
	for text, want := range map[string]int{`"nai"`: 0, `"orm"`: 1} {
		n := 0
		if err := s.readers.QueryRowContext(t.Context(), "SELECT count(*) FROM worded WHERE worded MATCH ?", text).Scan(&n); err != nil || n != want {
			t.Errorf("the index has %d runs with %s, not %d, %v", n, text, want, err)
		}
	}
}

// TestNothingFindsDeletedRuns: with a run go its words and labels from wherever they are looked
// for, those of runs that are there stay, and no byte of the rarest is left.
func TestNothingFindsDeletedRuns(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	const rare = "\u9f98\u9f49\u9750"
	said(t, s, 300, func(i int) string { return fmt.Sprintf("Number <%d> %s", i, rare[:len(rare)*(i%2)]) })
	if len(holding(t, dir, rare[3:])) == 0 {
		t.Fatal("it is nowhere: this test shows nothing")
	}
	var gone []string
	for i := 1; i < 300; i += 2 {
		gone = append(gone, fmt.Sprint("run", i))
	}
	if err := s.Delete(t.Context(), gone...); err != nil {
		t.Fatal(err)
	}
	if got := found(t, s, timeline.Query{Text: rare}); got != "" {
		t.Errorf("found: %s", got)
	}
	for tables, want := range map[string]int{"labelled": 150, "(SELECT id FROM worded_docsize UNION ALL SELECT n FROM unworded)": 150} {
		n := 0
		if err := s.readers.QueryRowContext(t.Context(), "SELECT count(*) FROM "+tables).Scan(&n); err != nil || n != want {
			t.Errorf("%s has %d rows, not %d, %v", tables, n, want, err)
		}
	}
	if names := holding(t, dir, rare[3:]); len(names) > 0 {
		t.Errorf("it is still in %v", names)
	}
	if got := found(t, s, timeline.Query{Text: "<298>"}); got != "run298" {
		t.Errorf("what is kept: %q", got)
	}
}

// TestSearchOfWhoOnlyReads: whoever may not write finds the same.
func TestSearchOfWhoOnlyReads(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	said(t, opened{Journal: s}, 300, func(i int) string { return fmt.Sprintf("Number <%d>", i) })
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	reading, err := openReadOnly(t.Context(), dir, timeline.ErrReadOnly)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = reading.Close() }()
	for i := range 3 {
		list, err := reading.List(t.Context(), timeline.Query{Text: fmt.Sprintf("r <%d>", i*149), Limit: 9})
		if err != nil || len(list) != 1 {
			t.Errorf("%d: %+v, %v", i, list, err)
		}
	}
}
