package sqlite

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// BenchmarkAppend is one durable event per append, by writers of a run each.
func BenchmarkAppend(b *testing.B) {
	for _, writers := range []int{1, 64} {
		b.Run(fmt.Sprint("writers=", writers), func(b *testing.B) {
			s := open(b, b.TempDir())
			ctx := context.Background()
			spread(b, writers, func(w int, next func() bool) error {
				run := fmt.Sprint("run", w)
				l, err := s.Claim(ctx, run, "bench", time.Hour)
				for seq := uint64(1); err == nil && next(); seq++ {
					err = s.Append(ctx, l, seq-1, noted(run, seq))
				}
				return err
			})
		})
	}
	b.Run("file", func(b *testing.B) {
		f, err := os.Create(filepath.Join(b.TempDir(), "raw"))
		if err != nil {
			b.Fatal(err)
		}
		spread(b, 1, func(_ int, next func() bool) error {
			for next() {
				stored, err := json.Marshal(noted("run0", 1))
				if err == nil {
					_, err = f.Write(stored)
				}
				if err == nil {
					err = f.Sync()
				}
				if err != nil {
					return err
				}
			}
			return f.Close()
		})
	})
}

// BenchmarkDue is a look for what is due in a store of 10,000 ended runs, 100 that wait
// for later and 10 that are due.
func BenchmarkDue(b *testing.B) {
	s := open(b, b.TempDir())
	ctx := context.Background()
	var runs atomic.Int64
	spread(b, 64, func(_ int, _ func() bool) error {
		for n := runs.Add(1); n <= 10_110; n = runs.Add(1) {
			run := fmt.Sprint("run", n)
			l, err := s.Claim(ctx, run, "bench", time.Hour)
			if err != nil {
				return err
			}
			last := recovery.Event{Run: run, Seq: 1, Time: time.Unix(1, 0), Body: recovery.Ended{Status: recovery.StatusCompleted}}
			if n > 10_000 {
				last.Body = recovery.Waiting{ID: "w", For: recovery.WaitReset, Until: time.Unix(10*(n-10_000), 0)}
			}
			if err := s.Append(ctx, l, 0, last); err != nil {
				return err
			}
			if err := s.Release(ctx, l); err != nil {
				return err
			}
		}
		return nil
	})
	b.ResetTimer()
	for range b.N {
		if _, err := s.List(ctx, timeline.Query{Due: time.Unix(100, 0)}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRead reads the few events of a run that has just begun.
func BenchmarkRead(b *testing.B) {
	s := open(b, b.TempDir())
	ctx := context.Background()
	l, err := s.Claim(ctx, "r1", "bench", time.Hour)
	if err == nil {
		err = s.Append(ctx, l, 0, noted("r1", 1), noted("r1", 2), noted("r1", 3))
	}
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if events, err := s.Read(ctx, "r1", 0, 0); err != nil || len(events) != 3 {
			b.Fatalf("%d events (%v)", len(events), err)
		}
	}
}

// spread lets writers do b.N things together.
func spread(b *testing.B, writers int, write func(w int, next func() bool) error) {
	var begun atomic.Int64
	next := func() bool { return begun.Add(1) <= int64(b.N) }
	var wg sync.WaitGroup
	b.ResetTimer()
	for w := range writers {
		wg.Go(func() {
			if err := write(w, next); err != nil {
				b.Error(err)
			}
		})
	}
	wg.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "appends/s")
}
