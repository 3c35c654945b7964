package bench

import (
	"slices"
	"testing"
	"time"
)

// base marks the metrics of a baseline.
const base = "base-"

// spans are measured durations.
type spans []time.Duration

// time measures f once.
func (s *spans) time(f func()) {
	began := time.Now()
	f()
	*s = append(*s, time.Since(began))
}

// each divides the spans by n, for n operations in a row per span.
func (s spans) each(n int) spans {
	for i := range s {
		s[i] /= time.Duration(n)
	}
	return s
}

// report reports the median and the 99th percentile to the table.
func (s spans) report(b *testing.B, prefix string) {
	b.Helper()
	if len(s) == 0 {
		b.Fatal("nothing was measured")
	}
	slices.Sort(s)
	at := func(part float64) float64 {
		return float64(s[int(part*float64(len(s)-1))].Nanoseconds()) / 1e3
	}
	b.ReportMetric(0, "ns/op") // of the measured thing and its baseline together, so it means nothing
	b.ReportMetric(at(0.50), prefix+"p50-us")
	b.ReportMetric(at(0.99), prefix+"p99-us")
}

// rate is how many operations took how long.
type rate struct {
	n    int
	took time.Duration
}

// time measures f, which does n operations.
func (r *rate) time(n int, f func()) {
	began := time.Now()
	f()
	r.took += time.Since(began)
	r.n += n
}

func (r *rate) report(b *testing.B, prefix string) {
	b.Helper()
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(r.n)/r.took.Seconds(), prefix+"per-s")
}
