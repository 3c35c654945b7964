package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// line is a line of a table. The cells of the first table are: what, measured,
// baseline, compared, target, verdict.
type line []string

var head = line{"", "measured", "baseline", "compared", "target", ""}

// fill makes lines from rows; the error names benchmarks without a result.
func fill(rows []row, all results) ([]line, error) {
	var lines []line
	var errs []error
	for _, r := range rows {
		m := all[key(r.dir, r.bench)]
		mine := r.numbers(m, r.metrics)
		switch {
		case mine == "" && r.optional != "":
			lines = append(lines, line{r.what, "not run: " + r.optional})
			continue
		case mine == "":
			errs = append(errs, fmt.Errorf("no result of Benchmark%s in %s", r.bench, r.dir))
			lines = append(lines, line{r.what, "MISSING"})
			continue
		}
		baseline, compared, text := "", 0.0, ""
		if r.baseline != "" {
			baseline = r.baseline + ": " + r.numbers(m, "base-")
			compared, text = r.compared(m)
		}
		lines = append(lines, line{r.what, mine, baseline, text, r.target.text, r.verdict(m, compared)})
	}
	return lines, errors.Join(errs...)
}

// numbers are a row's metrics, "" if there are none.
func (r row) numbers(m metrics, prefix string) string {
	if value, ok := m[prefix+r.at]; ok {
		switch r.at {
		case cpuPerStep, cpuPerCall:
			return micros(value)
		case allocsPerCall:
			return fmt.Sprintf("%.0f", value)
		case bytesPerStep:
			return fmt.Sprintf("%.0f B", value)
		}
	}
	if perSecond, ok := m[prefix+perSec]; ok && r.at == perSec {
		return fmt.Sprintf("%.0f/s", perSecond)
	}
	median, ok := m[prefix+p50]
	if !ok {
		return ""
	}
	return fmt.Sprintf("p50 %s  p99 %s", micros(median), micros(m[prefix+p99]))
}

func (r row) compared(m metrics) (float64, string) {
	mine, theirs := m[r.metrics+r.at], m["base-"+r.at]
	name, _, _ := strings.Cut(r.at, "-")
	switch r.at {
	case perSec, bytesPerStep, cpuPerStep, allocsPerCall:
		return mine / theirs, fmt.Sprintf("%.2f×", mine/theirs)
	case cpuPerCall:
		return mine - theirs, signed(mine - theirs)
	}
	if r.compare == ratio {
		return mine / theirs, fmt.Sprintf("%.2f× at %s", mine/theirs, name)
	}
	return mine - theirs, fmt.Sprintf("%s at %s", signed(mine-theirs), name)
}

func (r row) verdict(m metrics, compared float64) string {
	if r.target.own != "" {
		compared = m[r.metrics+r.target.own]
	}
	switch {
	case r.target.most == 0 && r.target.least == 0:
		return ""
	case r.target.most > 0 && compared <= r.target.most, r.target.least > 0 && compared >= r.target.least:
		return "met"
	}
	return "MISSED"
}

// micros writes microseconds in a suitable unit.
func micros(us float64) string {
	switch {
	case us >= 1000:
		return fmt.Sprintf("%.2f ms", us/1000)
	case us >= 10:
		return fmt.Sprintf("%.0f µs", us)
	}
	return fmt.Sprintf("%.2f µs", us)
}

func signed(us float64) string {
	if us < 0 {
		return "−" + micros(-us)
	}
	return "+" + micros(us)
}

// printTable aligns the columns. A second cell that is the last of its line does not
// widen its column.
func printTable(w io.Writer, head line, lines []line) {
	lines = append([]line{head}, lines...)
	widths := make([]int, len(head))
	for _, l := range lines {
		for i, cell := range l {
			if i == 1 && len(l) == 2 {
				continue
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, l := range lines {
		var text strings.Builder
		for i, cell := range l {
			text.WriteString(cell)
			text.WriteString(strings.Repeat(" ", max(0, widths[i]-utf8.RuneCountInString(cell))+2))
		}
		fmt.Fprintln(w, strings.TrimRight(text.String(), " "))
	}
}
