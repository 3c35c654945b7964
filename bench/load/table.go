package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
)

// line is a line of the table: what, measured, the same without Mulligan, target, verdict,
// and how many processors the gateway, the provider, this process and others used.
type line []string

var head = line{"", "measured", "this machine alone", "target", "", "processors: gateway + provider + load"}

func printTable(w io.Writer, lines []line) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, l := range append([]line{head}, lines...) {
		for len(l) < len(head) {
			l = append(l, "")
		}
		fmt.Fprintln(table, strings.Join(l, "\t"))
	}
	return table.Flush()
}

func verdict(met bool) string {
	if met {
		return "met"
	}
	return "MISSED"
}

// spread is the median and the 99th percentile.
func spread(t *times) string {
	return "p50 " + millis(t.at(0.5)) + " p99 " + millis(t.at(0.99))
}

func millis(d time.Duration) string {
	ms := float64(d) / float64(time.Millisecond)
	if ms >= 10 || d%time.Millisecond == 0 {
		return fmt.Sprintf("%.0f ms", ms)
	}
	return fmt.Sprintf("%.1f ms", ms)
}
