package postgres

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/mulligan-run/mulligan/timeline/postgres/pgtest"
)

// BenchmarkAppend is the same as of sqlite. The server that tests start does not sync: for figures name one
// that does by MULLIGAN_POSTGRES.
func BenchmarkAppend(b *testing.B) {
	for _, writers := range []int{1, 64} {
		b.Run(fmt.Sprintf("writers=%d", writers), func(b *testing.B) {
			s := open(b, pgtest.Database(b))
			b.ResetTimer()
			var all sync.WaitGroup
			for w := range writers {
				all.Go(func() {
					run := fmt.Sprint("r", w)
					l, err := s.Claim(b.Context(), run, "bench", time.Hour)
					for seq := uint64(1); err == nil && seq <= uint64(b.N/writers+1); seq++ { //nolint:gosec // small
						err = s.Append(b.Context(), l, seq-1, noted(run, seq))
					}
					if err != nil {
						b.Error(err)
					}
				})
			}
			all.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "appends/s")
		})
	}
}

// BenchmarkClaimDue: 10,000 runs are due at once, and two machines claim them.
func BenchmarkClaimDue(b *testing.B) {
	const runs = 10_000
	url := pgtest.Database(b)
	one, other := open(b, url), open(b, url)
	conn, err := pgx.Connect(b.Context(), url)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	for b.Loop() {
		b.StopTimer()
		if _, err := conn.Exec(b.Context(), "DELETE FROM mulligan.runs"); err != nil {
			b.Fatal(err)
		}
		makeDue(b, conn, runs)
		b.StartTimer()
		var claimed atomic.Int64
		var all sync.WaitGroup
		for _, s := range []opened{one, other} {
			all.Go(func() {
				for claimed.Load() < runs {
					heads, err := s.Store.ClaimDue(b.Context(), "me", time.Hour, time.Now(), false, nil, 500)
					if err != nil {
						b.Error(err)
						return
					}
					claimed.Add(int64(len(heads)))
				}
			})
		}
		all.Wait()
		if claimed.Load() != runs {
			b.Errorf("%d of %d were claimed", claimed.Load(), runs)
		}
	}
}
