package gateway_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/gateway"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// BenchmarkFollowers shows an item to 500 followers of a run: what it costs the gateway for
// each of them, the network left out.
func BenchmarkFollowers(b *testing.B) {
	const followers = 500
	text := strings.Repeat("some words of it ", 12)
	for name, show := range map[string]func(b *testing.B, w *written, n int){
		"delta": func(_ *testing.B, w *written, n int) {
			w.log.Publish("r1", timeline.Delta{Attempt: 1, Offset: n * len(text), Text: text})
		},
		"event": func(b *testing.B, w *written, _ int) {
			if err := w.write("r1", recovery.Noted{Topic: recovery.TopicToolSays, Detail: text[:recovery.MaxNote]}); err != nil {
				b.Fatal(err)
			}
		},
	} {
		b.Run(name, func(b *testing.B) {
			w := newWritten()
			if _, err := w.Start(b.Context(), gateway.Start{Prompt: "hi"}); err != nil {
				b.Fatal(err)
			}
			g := gateway.New(gateway.Config{Runs: w, Log: w.log, Version: "test"})
			c := &crowd{heard: make(chan struct{})}
			ctx, cancel := context.WithCancel(b.Context())
			var all sync.WaitGroup
			c.await(followers * 3) // a welcome and two events
			for range followers {
				all.Go(func() {
					g.ServeHTTP(listening{c, http.Header{}}, httptest.NewRequestWithContext(ctx, http.MethodGet, "/v1/runs/r1/events", nil))
				})
			}
			<-c.heard
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			cpu := processorTime(b)
			n := 0
			for b.Loop() {
				c.await(followers)
				show(b, w, n)
				<-c.heard
				n++
			}
			cpu = processorTime(b) - cpu
			runtime.ReadMemStats(&after)
			each := float64(n * followers)
			b.ReportMetric(float64(cpu.Nanoseconds())/each, "cpu-ns/follower")
			b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/each, "B/follower")
			b.ReportMetric(0, "ns/op")
			cancel()
			all.Wait()
		})
	}
}

func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// crowd counts what its members are sent.
type crowd struct {
	left  atomic.Int64
	heard chan struct{} // told when nothing is left
}

func (c *crowd) await(n int64) { c.left.Store(n) }

// listening is a member's answer.
type listening struct {
	*crowd
	header http.Header
}

func (l listening) Header() http.Header              { return l.header }
func (l listening) WriteHeader(int)                  {}
func (l listening) Flush()                           {}
func (l listening) SetWriteDeadline(time.Time) error { return nil }

func (l listening) Write(data []byte) (int, error) {
	if l.left.Add(-1) == 0 {
		l.heard <- struct{}{}
	}
	return len(data), nil
}
