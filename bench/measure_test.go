package bench

import (
	"slices"
	"testing"
	"time"
)

// base marks the metrics of a baseline.
const base = "base-"

// spans are the measured times of one thing.
type spans []time.Duration

// time measures f once.
func (s *spans) time(f func()) {
	began := time.Now()
	f()
	*s = append(*s, time.Since(began))
}

// each is for spans in which n things were done one after the other.
func (s spans) each(n int) spans {
	for i := range s {
		s[i] /= time.Duration(n)
	}
	return s
}

// report gives the median and the 99th percentile to the table.
func (s spans) report(b *testing.B, prefix string) {
	b.Helper()
	if len(s) == 0 {
		b.Fatal("nothing was measured")
	}
	slices.Sort(s)
	at := func(part float64) float64 {
		return float64(s[int(part*float64(len(s)-1))].Nanoseconds()) / 1e3
	}
	b.ReportMetric(0, "ns/op") // of the measured thing and its baseline together: says nothing
	b.ReportMetric(at(0.50), prefix+"p50-us")
	b.ReportMetric(at(0.99), prefix+"p99-us")
}

// rate is how many things were done in how much time.
type rate struct {
	n    int
	took time.Duration
}

// time measures f, which does n things.
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
