package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/timeline"
	"github.com/mulligan-run/mulligan/timeline/postgres/pgtest"
)

// TestReadersHoldThePool: who reads keeps nobody from claiming, renewing, releasing and
// appending, and no write waits for why another one was refused.
func TestReadersHoldThePool(t *testing.T) {
	s := open(t, pgtest.Database(t))
	old, err := s.Claim(t.Context(), "taken", "me", time.Hour)
	if err == nil {
		_, err = s.Claim(t.Context(), "taken", "me", time.Hour)
	}
	if err != nil {
		t.Fatal(err)
	}
	held := 0
	release := func() {}
	for ; held < maxReaders; held++ {
		conn, err := s.readers.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		before := release
		release = func() { conn.Release(); before() }
	}
	refused := make(chan error, 1)
	go func() { refused <- s.Append(context.WithoutCancel(t.Context()), old, 0, noted("taken", 1)) }()
	l, err := s.Claim(t.Context(), "r", "me", time.Hour)
	for seq := uint64(1); err == nil && seq <= 20; seq++ {
		if err = s.Append(t.Context(), l, seq-1, noted("r", seq)); err == nil {
			l, err = s.Renew(t.Context(), l, time.Hour)
		}
	}
	if err == nil {
		err = s.Release(t.Context(), l)
	}
	if err != nil {
		t.Error(err)
	}
	release()
	if err := <-refused; !errors.Is(err, timeline.ErrStale) {
		t.Errorf("the old owner's append: %v", err)
	}
}

// TestFaultsThatPass: what the database refuses for a moment, one statement in twenty, nobody
// who writes hears of, and nothing is written twice.
func TestFaultsThatPass(t *testing.T) {
	url := pgtest.Database(t)
	s := open(t, url)
	do(t, url, `CREATE FUNCTION mulligan.fails() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
			IF random() < 0.05 THEN
				RAISE EXCEPTION 'on purpose' USING ERRCODE = (ARRAY['40001', '40P01', '57P01', '57014'])[1 + floor(random() * 4)::int];
			END IF;
			RETURN NULL;
		END $$`)
	do(t, url, "CREATE TRIGGER fails BEFORE INSERT OR UPDATE ON mulligan.runs FOR EACH STATEMENT EXECUTE FUNCTION mulligan.fails()")
	do(t, url, "CREATE TRIGGER fails AFTER INSERT ON mulligan.events FOR EACH STATEMENT EXECUTE FUNCTION mulligan.fails()")
	const runs, events = 8, 25
	var all sync.WaitGroup
	for i := range runs {
		all.Go(func() {
			run := fmt.Sprint("r", i)
			l, err := s.Claim(t.Context(), run, "me", time.Hour)
			for seq := uint64(1); err == nil && seq <= events; seq++ {
				err = s.Append(t.Context(), l, seq-1, noted(run, seq))
				if err == nil && seq%5 == 0 {
					l, err = s.Renew(t.Context(), l, time.Hour)
				}
			}
			if err == nil {
				err = s.Release(t.Context(), l)
			}
			if err != nil {
				t.Errorf("%s: %v", run, err)
			}
			if written, err := s.Read(t.Context(), run, 0, 0); err != nil || len(written) != events {
				t.Errorf("%s has %d events, want %d (%v)", run, len(written), events, err)
			}
		})
	}
	all.Wait()
}

// TestPgBouncer: through a pooler in transaction mode a store is the same.
func TestPgBouncer(t *testing.T) {
	if testing.Short() {
		t.Skip("plays both suites a second time, each test with a pooler of its own")
	}
	holdsTheContract(t, pgtest.Pooled)
}
