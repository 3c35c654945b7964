package postgres

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/mulligan-run/mulligan/timeline/postgres/pgtest"
)

// TestWhatAnAppendCosts: an append is one transaction, and changes the row of its run without touching an
// index, once in a hundred at the most: then its page is full.
func TestWhatAnAppendCosts(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for the database to count")
	}
	t.Parallel()
	url := pgtest.Database(t)
	s := open(t, url)
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	l, err := s.Claim(t.Context(), "r", "me", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	seq := uint64(0)
	appendOne := func() {
		t.Helper()
		seq++
		if err := s.Append(t.Context(), l, seq-1, noted("r", seq)); err != nil {
			t.Fatal(err)
		}
	}
	counted := func() (commits, changed, heapOnly int64) { // of the database since it was made: tests use one after the other
		t.Helper()
		if err := conn.QueryRow(t.Context(), `SELECT xact_commit, n_tup_upd, n_tup_hot_upd FROM pg_stat_database, pg_stat_user_tables
			WHERE datname = current_database() AND schemaname = 'mulligan' AND relname = 'runs'`).Scan(&commits, &changed, &heapOnly); err != nil {
			t.Fatal(err)
		}
		return commits, changed, heapOnly
	}
	before, changedBefore, heapOnlyBefore := counted()
	const appends = 500
	for range appends {
		appendOne()
	}
	var commits, changed, heapOnly int64
	for began := time.Now(); changed < appends; time.Sleep(200 * time.Millisecond) {
		if time.Since(began) > time.Minute {
			t.Fatalf("the database has counted %d of %d appends", changed, seq)
		}
		appendOne() // a session counts at the end of a transaction
		commits, changed, heapOnly = counted()
		commits, changed, heapOnly = commits-before, changed-changedBefore, heapOnly-heapOnlyBefore
	}
	if changed-heapOnly > changed/20 { // some are for want of room in a page that others read at the moment
		t.Errorf("%d of %d appends touched an index of the run's", changed-heapOnly, changed)
	}
	const others = 100 // that open the store, and look
	if commits > changed+others {
		t.Errorf("%d appends are %d transactions", changed, commits)
	}
}
