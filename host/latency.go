package host

import (
	"slices"
	"time"

	"github.com/mulligan-run/mulligan/failure"
)

// latencies keeps the last 256 durations. Its owner's mutex guards it.
type latencies struct {
	kept [256]time.Duration
	n    int
}

func (l *latencies) add(d time.Duration) {
	l.kept[l.n%len(l.kept)] = d
	l.n++
}

// quantile is 0 if there are no durations yet.
func (l *latencies) quantile(q float64) failure.Millis {
	sorted := slices.Clone(l.kept[:min(l.n, len(l.kept))])
	if len(sorted) == 0 {
		return 0
	}
	slices.Sort(sorted)
	return failure.InMillis(sorted[int(q*float64(len(sorted)-1))])
}
