package timelinetest

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// testJoin: a session is one line of runs.
func testJoin(t *testing.T, s timeline.Store) {
	begin := func(run, continues string) (*timeline.Append, *told) {
		a, durable := appending(t, timeline.Lease{Run: run, Owner: "a", Epoch: 1}, timeline.Summary{}, joins(run, "s", continues))
		a.Begins = &timeline.Beginning{TTL: time.Hour}
		return a, durable
	}
	a, _ := begin("r1", "gone") // a session without runs accepts it
	if err := s.Append(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	b, durable := begin("r2", "r1")
	refused(t, s, "a second run at once", timeline.ErrSession, b, durable)
	keep(t, s, a.Lease, a.Head, with("r1", 2, recovery.Ended{Status: recovery.StatusCompleted}))
	for _, continues := range []string{"", "r9"} {
		b, durable = begin("r2", continues)
		refused(t, s, fmt.Sprintf("a run that continues %q", continues), timeline.ErrSession, b, durable)
	}
	b, _ = begin("r2", "r1")
	if err := s.Append(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	list, err := s.Sessions(t.Context(), 5)
	if err != nil || len(list) != 1 || list[0].ID != "s" || list[0].Runs != 2 || list[0].Title != "Say r1" || list[0].Last.Run != "r2" {
		t.Errorf("%+v, %v", list, err)
	}
}

func testJoinRace(t *testing.T, s timeline.Store) {
	a, _ := appending(t, timeline.Lease{Run: "r0", Epoch: 1}, timeline.Summary{}, joins("r0", "s", ""), with("r0", 2, recovery.Ended{Status: recovery.StatusCompleted}))
	a.Begins = &timeline.Beginning{}
	if err := s.Append(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	var won atomic.Int32
	var wg sync.WaitGroup
	for i := range 16 {
		run := fmt.Sprint("next", i)
		// Each run ends immediately, so only a faster rival can be in the way of the next one.
		a, _ := appending(t, timeline.Lease{Run: run, Epoch: 1}, timeline.Summary{}, joins(run, "s", "r0"), with(run, 2, recovery.Ended{Status: recovery.StatusCompleted}))
		a.Begins = &timeline.Beginning{}
		wg.Go(func() {
			if err := s.Append(t.Context(), a); err == nil {
				won.Add(1)
			} else {
				wantError(t, "the others", err, timeline.ErrSession)
			}
		})
	}
	wg.Wait()
	if won.Load() != 1 {
		t.Errorf("%d runs continue one", won.Load())
	}
}

func testBlob(t *testing.T, s timeline.Store) {
	l, _ := lend(t, s, "r", "a")
	head := keep(t, s, l, timeline.Summary{}, event("r", 1, "x"), event("r", 2, "y"))
	save := func(l timeline.Lease, of timeline.BlobOwner, seq uint64, data string) error {
		return s.SaveBlob(t.Context(), l, timeline.Blob{Of: of, Seq: seq, Data: []byte(data)})
	}
	wants := func(of timeline.BlobOwner, seq uint64, data string) {
		t.Helper()
		if b, err := s.LoadBlob(t.Context(), of); err != nil || b.Seq != seq || string(b.Data) != data || data == "" && b.Data != nil {
			t.Errorf("blob of %+v: %+v, %v", of, b, err)
		}
	}
	run, session := timeline.BlobOwner{Run: "r"}, timeline.BlobOwner{Session: "r"}
	wants(run, 0, "")
	wants(session, 0, "")
	for _, step := range []struct {
		seq  uint64
		data string
		at   uint64
		kept string
	}{{1, "one", 1, "one"}, {2, "two", 2, "two"}, {1, "one again", 2, "two"}, {2, "two anew", 2, "two anew"}} {
		if err := save(l, run, step.seq, step.data); err != nil {
			t.Fatal(err)
		}
		wants(run, step.at, step.kept)
	}
	for _, data := range []string{"{}", `{"a":1}`} {
		if err := save(timeline.Lease{}, session, 0, data); err != nil {
			t.Fatal(err)
		}
		wants(session, 0, data)
	}
	wants(run, 2, "two anew")
	wantError(t, "a seq to come", save(l, run, 3, "x"), timeline.ErrConflict)
	wantError(t, "an unknown run", save(timeline.Lease{Run: "q", Owner: "a", Epoch: 1}, timeline.BlobOwner{Run: "q"}, 0, "x"), timeline.ErrNotFound)
	_, err := s.LoadBlob(t.Context(), timeline.BlobOwner{Run: "q"})
	wantError(t, "the blob of an unknown run", err, timeline.ErrNotFound)
	lend(t, s, "r", "a")
	wantError(t, "an old owner", save(l, run, head.Seq, "x"), timeline.ErrStale)
}

func testStoredTail(t *testing.T, s timeline.Store) {
	l, _ := lend(t, s, "r", "a")
	head := keep(t, s, l, timeline.Summary{}, started("r", "", "x"), with("r", 2, recovery.Began{Attempt: 1}))
	wants := func(want timeline.Tail) {
		t.Helper()
		if got, err := s.LoadTail(t.Context(), "r"); err != nil || got != want {
			t.Errorf("the tail is %+v, %v; want %+v", got, err, want)
		}
	}
	wants(timeline.Tail{})
	for _, text := range []string{"Hel", "Hello \x00\xff"} {
		if err := s.SaveTail(t.Context(), l, timeline.Tail{Attempt: 1, Offset: 3, Text: text}); err != nil {
			t.Fatal(err)
		}
		wants(timeline.Tail{Attempt: 1, Seq: 2, Offset: 3, Text: text})
	}
	head = keep(t, s, l, head, event("r", 3, "x"))
	wants(timeline.Tail{Attempt: 1, Seq: 2, Offset: 3, Text: "Hello \x00\xff"})
	ends, _ := appending(t, l, head, with("r", 4, recovery.Failed{Attempt: 1}))
	ends.EndsTail = true
	if err := s.Append(t.Context(), ends); err != nil {
		t.Fatal(err)
	}
	wants(timeline.Tail{})
	lend(t, s, "r", "a")
	wantError(t, "the tail of an old owner", s.SaveTail(t.Context(), l, timeline.Tail{Attempt: 2, Text: "x"}), timeline.ErrStale)
	_, err := s.LoadTail(t.Context(), "q")
	wantError(t, "the tail of an unknown run", err, timeline.ErrNotFound)
}

func testSent(t *testing.T, s timeline.Store) {
	lend(t, s, "r", "a")
	var said []uint64
	for _, step := range []struct {
		id string
		n  uint64
	}{{"c1", 1}, {"c2", 2}, {"c1", 1}, {"c3", 3}} {
		n, err := s.Send(t.Context(), "r", timeline.Command{ID: step.id, Body: recovery.CancelRequested{}}, func(n uint64) { said = append(said, n) })
		if err != nil || n != step.n {
			t.Errorf("%s is at position %d, %v", step.id, n, err)
		}
	}
	if said = slices.Compact(slices.Sorted(slices.Values(said))); !slices.Equal(said, []uint64{1, 2, 3}) {
		t.Errorf("said of %v", said)
	}
	if h := headOf(t, s, "r"); h.Inbox != 3 {
		t.Errorf("the inbox ends at %d", h.Inbox)
	}
}

// testGone: gone is called for each run that can no longer be found, and for no run that stays.
func testGone(t *testing.T, s timeline.Store) {
	for _, run := range []string{"p", "q", "held"} {
		l, _ := lend(t, s, run, "a")
		keep(t, s, l, timeline.Summary{}, started(run, "", "hi"))
		if run == "held" {
			continue
		}
		if err := s.Hold(t.Context(), l, 0); err != nil {
			t.Fatal(err)
		}
	}
	var gone []string
	remove := func(runs ...string) error {
		return s.Delete(t.Context(), func(run string) {
			gone = append(gone, run)
		}, runs...)
	}
	wantError(t, "a run that somebody has", remove("p", "held"), timeline.ErrOwned)
	wantError(t, "an unknown run", remove("p", "nobody"), timeline.ErrNotFound)
	if len(gone) > 0 {
		t.Errorf("%v are said to be gone", gone)
	}
	if err := remove("p", "q"); err != nil || len(gone) != 2 {
		t.Errorf("%v are said to be gone, %v", gone, err)
	}
}

// testMoved: a shared store says how far runs have got.
func testMoved(t *testing.T, s timeline.Store) {
	shared, ok := s.(timeline.Shared)
	if !ok {
		return // nobody else writes to it
	}
	l, _ := lend(t, s, "r", "a")
	keep(t, s, l, timeline.Summary{}, started("r", "", "x"), with("r", 2, recovery.Began{Attempt: 7}))
	if err := s.SaveTail(t.Context(), l, timeline.Tail{Attempt: 7, Text: "Hello"}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Send(t.Context(), "r", timeline.Command{ID: "c", Body: recovery.CancelRequested{}}, func(uint64) {}); err != nil {
		t.Fatal(err)
	}
	moved, news, err := shared.Moved(t.Context(), []string{"nobody", "r"})
	if err != nil || !news || !slices.Equal(moved, []timeline.Moved{{Run: "r", Seq: 2, Inbox: 1, Attempt: 7, Said: 5}}) {
		t.Errorf("%+v, %t, %v", moved, news, err)
	}
}
