package postgres

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/mulligan-run/mulligan/timeline/postgres/pgtest"
)

// makeDue makes so many runs that are due and that nobody has.
func makeDue(t testing.TB, conn *pgx.Conn, runs int) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), `INSERT INTO mulligan.runs (run, epoch, owner, member, expires, seq, status, due_at, due_from)
		SELECT 'r' || n, 1, '', '', clock_timestamp(), 1, 'running', 1000 + n, 1000 FROM generate_series(1, $1::int) AS n`, runs); err != nil {
		t.Fatal(err)
	}
}

// TestTenThousandDue: of 10,000 runs that are due at once each goes to one of five members, which ask for
// 250 at a time as machines do, in a few steps; one that is given nothing finds that nothing is left.
func TestTenThousandDue(t *testing.T) {
	if testing.Short() {
		t.Skip("makes 10,000 runs")
	}
	const runs, members, bulk = 10_000, 5, 250
	url := pgtest.Database(t)
	var stores []opened
	for range members {
		stores = append(stores, open(t, url))
	}
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	makeDue(t, conn, runs)
	var mu sync.Mutex
	given, steps := map[string]string{}, 0
	var all sync.WaitGroup
	for i, s := range stores {
		all.Go(func() {
			me := fmt.Sprint("member", i)
			for {
				heads, err := s.Store.ClaimDue(t.Context(), me, time.Hour, time.Now(), false, nil, bulk)
				if err != nil {
					t.Error(err)
				}
				if len(heads) == 0 {
					return
				}
				mu.Lock()
				steps++
				for _, h := range heads {
					if other := given[h.Run]; other != "" || h.Epoch != 2 || h.Owner != me {
						t.Errorf("I34: %s is given to %s, after %q, as %+v", h.Run, me, other, h)
					}
					given[h.Run] = me
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	if len(given) != runs || steps > 2*runs/bulk {
		t.Errorf("%d of %d runs are given, in %d steps", len(given), runs, steps)
	}
}
