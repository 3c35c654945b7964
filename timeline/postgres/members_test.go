package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
	"github.com/mulligan-run/mulligan/timeline/postgres/pgtest"
	"github.com/mulligan-run/mulligan/timeline/timelinetest"
)

func noted(run string, seq uint64) recovery.Event {
	return recovery.Event{Run: run, Seq: seq, Time: time.Unix(int64(seq), 0).UTC(), Body: recovery.Noted{Topic: "progress"}} //nolint:gosec // small
}

func started(run, session, continues string) recovery.Event {
	b := recovery.Started{Model: "a/one", Session: session}
	if continues != "" {
		b.Continues = &recovery.Head{Run: continues, Seq: 2}
	}
	return recovery.Event{Run: run, Seq: 1, Time: time.Unix(1, 0).UTC(), Body: b}
}

// do has the database do something, on a connection of its own.
func do(t *testing.T, url, sql string, args ...any) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	if _, err := conn.Exec(t.Context(), sql, args...); err != nil {
		t.Fatal(err)
	}
}

// TestTwoStores: I34: what one appends the other follows, and only the newest owner appends.
func TestTwoStores(t *testing.T) {
	url := pgtest.Database(t)
	a, b := open(t, url), open(t, url)
	timelinetest.Shared(t, a, b)
	timelinetest.Kept(t, a, b)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if lease, err := a.Claim(t.Context(), "r", "one", time.Hour); err != nil || lease.Epoch != 3 {
		t.Errorf("claim of a run whose store was closed: %+v, %v", lease, err)
	}
}

func TestMembers(t *testing.T) {
	url := pgtest.Database(t)
	timelinetest.Members(t, open(t, url).Store, open(t, url).Store)
}

func TestBulkClaims(t *testing.T) {
	url := pgtest.Database(t)
	timelinetest.BulkClaims(t, open(t, url).Store, open(t, url).Store)
}

// TestRaces: of many who claim one run, or begin the next one of a session, one alone does,
// through whichever store.
func TestRaces(t *testing.T) {
	url := pgtest.Database(t)
	stores := []opened{open(t, url), open(t, url), open(t, url)}
	if err := stores[0].Import(t.Context(), started("r0", "s", ""),
		recovery.Event{Run: "r0", Seq: 2, Time: time.Unix(2, 0).UTC(), Body: recovery.Ended{Status: recovery.StatusCompleted}}); err != nil {
		t.Fatal(err)
	}
	for what, try := range map[string]func(s opened, i int) error{
		"claim": func(s opened, i int) error {
			_, err := s.Claim(t.Context(), "r", fmt.Sprint("owner", i), time.Hour)
			return err
		},
		"join": func(s opened, i int) error {
			run := fmt.Sprint("next", i)
			_, err := s.Begin(t.Context(), run, "owner", time.Hour, func(timeline.Lease) []recovery.Event {
				return []recovery.Event{started(run, "s", "r0")}
			})
			return err
		},
	} {
		var won atomic.Int32
		var all sync.WaitGroup
		for i := range 24 {
			all.Go(func() {
				err := try(stores[i%len(stores)], i)
				if err == nil {
					won.Add(1)
				} else if !errors.Is(err, timeline.ErrOwned) && !errors.Is(err, timeline.ErrSession) {
					t.Errorf("%s: %v", what, err)
				}
			})
		}
		all.Wait()
		if won.Load() != 1 {
			t.Errorf("%s: %d of 24 did", what, won.Load())
		}
	}
}

// TestConnectionsBreak: a connection that the database ends is made anew, and nothing is lost or
// written twice; nobody who appends hears of it.
func TestConnectionsBreak(t *testing.T) {
	url := pgtest.Database(t)
	s := open(t, url)
	l, err := s.Claim(t.Context(), "r", "me", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	for seq := uint64(1); seq <= 40; seq++ {
		if seq%8 == 0 {
			do(t, url, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()")
		}
		if err := s.Append(t.Context(), l, seq-1, noted("r", seq)); err != nil {
			t.Fatalf("event %d: %v", seq, err)
		}
	}
	if events, err := s.Read(t.Context(), "r", 0, 0); err != nil || len(events) != 40 {
		t.Errorf("%d events, %v", len(events), err)
	}
}

// TestOneClock: whoever set this machine's clock wrong neither keeps a lease too long nor loses
// it: the store is told for how long, and nothing else.
func TestOneClock(t *testing.T) {
	url := pgtest.Database(t)
	a, b := open(t, url), open(t, url)
	l, err := a.Claim(t.Context(), "r", "a", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	l.Expires = time.Now().Add(-time.Hour) // as a clock an hour ahead would say
	if err := a.Append(t.Context(), l, 0, noted("r", 1)); err != nil {
		t.Error(err)
	}
	owned, ok := errors.AsType[*timeline.OwnedError](func() error { _, err := b.Claim(t.Context(), "r", "b", time.Hour); return err }())
	if !ok || time.Until(owned.Until) < 59*time.Minute || time.Until(owned.Until) > time.Hour {
		t.Errorf("it is %+v", owned)
	}
	do(t, url, "UPDATE mulligan.runs SET expires = clock_timestamp()")
	if _, err := b.Claim(t.Context(), "r", "b", time.Hour); err != nil {
		t.Errorf("a lease that is over by the store's clock: %v", err)
	}
}

func TestNewerSchema(t *testing.T) {
	url := pgtest.Database(t)
	if err := open(t, url).Close(); err != nil {
		t.Fatal(err)
	}
	do(t, url, "UPDATE mulligan.schema SET version = 99")
	_, opening := Open(t.Context(), url)
	_, migrating := Migrate(t.Context(), url)
	for _, err := range []error{opening, migrating} {
		if err == nil || !strings.Contains(err.Error(), "newer version (schema 99") {
			t.Error(err)
		}
	}
}

// TestMigrateRace: of many who come to an empty database at once one makes the timeline.
func TestMigrateRace(t *testing.T) {
	url := pgtest.Database(t)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if version, err := Migrate(t.Context(), url); err != nil || version != len(migrations) {
				t.Errorf("schema %d, %v", version, err)
			}
		})
	}
	all.Wait()
}

// TestUnreachable: what is said names the database, the cause and the next step, and no password.
func TestUnreachable(t *testing.T) {
	for url, want := range map[string]string{
		"postgres://me:hunter2@127.0.0.1:1/runs":            "does not answer",
		"postgres://me:hunter2@127.0.0.1:x/runs":            "address",
		"postgres://me:hunter2@127.0.0.1/runs?sslmode=much": "address",
	} {
		_, err := Open(t.Context(), url)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", url, err)
		}
	}
	url := pgtest.Database(t)
	s := open(t, url)
	do(t, url, "DROP SCHEMA mulligan CASCADE")
	_, err := s.Claim(t.Context(), "r", "me", time.Hour)
	if e, ok := errors.AsType[*timeline.StoreError](err); !ok || !errors.Is(err, timeline.ErrGone) || e.Advice == "" {
		t.Errorf("a claim where the tables are gone: %v", err)
	}
	if _, err := Migrate(t.Context(), url); err != nil { // so that it can be closed
		t.Error(err)
	}
}

// TestOddNames: what the database cannot hold is refused or not found, and breaks nothing.
func TestOddNames(t *testing.T) {
	s := open(t, pgtest.Database(t))
	for _, run := range []string{"a\x00b", "\xff", "'; DROP SCHEMA mulligan; --"} {
		if _, err := s.Read(t.Context(), run, 0, 0); !errors.Is(err, timeline.ErrNotFound) {
			t.Errorf("read of %q: %v", run, err)
		}
		if _, err := s.Send(t.Context(), run, timeline.Command{ID: "c", Body: recovery.CancelRequested{}}); !errors.Is(err, timeline.ErrNotFound) {
			t.Errorf("send to %q: %v", run, err)
		}
	}
	l, err := s.Claim(t.Context(), "'; DROP", "o'\"$1", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	e := started("'; DROP", "", "")
	e.Body = recovery.Started{Model: "a/\x00\xff"}
	if err := s.Append(t.Context(), l, 0, e); err != nil {
		t.Error(err)
	}
	id := timeline.Command{ID: "c\x00\xff", Body: recovery.CancelRequested{}}
	for range 2 {
		if n, err := s.Send(t.Context(), l.Run, id); n != 1 || err != nil {
			t.Errorf("command at position %d, %v", n, err)
		}
	}
}

func TestClaimsByNeeds(t *testing.T) {
	t.Parallel()
	timelinetest.ClaimsByNeeds(t, open(t, pgtest.Database(t)).Store)
}
