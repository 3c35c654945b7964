package timeline_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// slow is a store that takes two seconds to lend a run.
type slow struct{ timeline.Store }

func (s slow) Claim(ctx context.Context, run, owner string, ttl time.Duration) (timeline.Head, error) {
	defer time.Sleep(2 * time.Second)
	return s.Store.Claim(ctx, run, owner, ttl)
}

func (s slow) Hold(ctx context.Context, l timeline.Lease, ttl time.Duration) error {
	defer time.Sleep(2 * time.Second)
	return s.Store.Hold(ctx, l, ttl)
}

func (s slow) Append(ctx context.Context, a *timeline.Append) error {
	defer time.Sleep(2 * time.Second)
	return s.Store.Append(ctx, a)
}

func first(run string) func(timeline.Lease) []recovery.Event {
	return func(timeline.Lease) []recovery.Event {
		return []recovery.Event{{Run: run, Seq: 1, Time: time.Unix(1, 0).UTC(), Body: recovery.Started{Model: "a/one"}}}
	}
}

// TestALeaseCountsFromBeforeItWasAskedFor: the holder of a lease must not believe in it for longer
// than the store does, whose clock it does not see.
func TestALeaseCountsFromBeforeItWasAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := timeline.NewJournal(slow{timeline.NewMemoryStore()})
		var l timeline.Lease
		for name, ask := range map[string]func() (timeline.Lease, error){
			"claim": func() (timeline.Lease, error) { return j.Claim(t.Context(), "claimed", "me", time.Minute) },
			"begin": func() (timeline.Lease, error) {
				return j.Begin(t.Context(), "begun", "me", time.Minute, first("begun"))
			},
		} {
			asked := time.Now()
			got, err := ask()
			if err != nil || !got.Expires.Equal(asked.Add(time.Minute)) {
				t.Errorf("%s: %+v, %v; asked at %s", name, got, err, asked)
			}
			l = got
		}
		asked := time.Now()
		if got, err := j.Renew(t.Context(), l, time.Minute); err != nil || !got.Expires.Equal(asked.Add(time.Minute)) {
			t.Errorf("renew: %+v, %v; asked at %s", got, err, asked)
		}
	})
}

// counting counts what is read.
type counting struct {
	timeline.Store
	reads int
}

func (c *counting) Heads(ctx context.Context, runs ...string) ([]timeline.Head, error) {
	c.reads++
	return c.Store.Heads(ctx, runs...)
}

func (c *counting) Read(ctx context.Context, run string, after uint64, limit int) ([]recovery.Event, error) {
	c.reads++
	return c.Store.Read(ctx, run, after, limit)
}

// TestAppendReadsNothing: an append to a run costs one append and no reads; a journal that does not
// know the run yet looks it up once.
func TestAppendReadsNothing(t *testing.T) {
	store := &counting{Store: timeline.NewMemoryStore()}
	j := timeline.NewJournal(store)
	begun, err := j.Begin(t.Context(), "begun", "me", time.Hour, first("begun"))
	if err != nil {
		t.Fatal(err)
	}
	appendTo := func(j *timeline.Journal, l timeline.Lease, from, to uint64) {
		t.Helper()
		for seq := from; seq <= to; seq++ {
			e := recovery.Event{Run: l.Run, Seq: seq, Time: time.Unix(int64(seq), 0).UTC(), Body: recovery.Noted{}} //nolint:gosec // small
			if err := j.Append(t.Context(), l, seq-1, e); err != nil {
				t.Fatal(err)
			}
		}
	}
	appendTo(j, begun, 2, 9)
	claimed, err := j.Claim(t.Context(), "begun", "me", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	appendTo(j, claimed, 10, 12)
	if store.reads > 0 {
		t.Errorf("%d reads for twelve events", store.reads)
	}
	appendTo(timeline.NewJournal(store), claimed, 13, 15)
	if store.reads != 1 {
		t.Errorf("%d reads by who knew nothing of the run", store.reads)
	}
	if list, err := j.List(t.Context(), timeline.Query{}); err != nil || list[0].Seq != 15 || list[0].Model != "a/one" || list[0].Owner != "me" {
		t.Errorf("it is listed as %+v, %v", list, err)
	}
}
