package timeline

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/recovery"
)

// Filter is a Query as people write it, on a command line or in a URL. Empty fields do not
// restrict.
type Filter struct {
	Status, Kind string
	Labels       []string // name=value
	// Since and Until are times (2026-01-31 or 2026-01-31T09:30:00Z) or ages (12h, 7d).
	Since, Until string
	Order        string // newest or oldest
}

// FilterError says which field of a Filter is wrong, by the name that people write.
type FilterError struct {
	Field string
	Err   error
}

// Error names the field.
func (e *FilterError) Error() string { return e.Field + ": " + e.Err.Error() }

// Unwrap gives the error without the field.
func (e *FilterError) Unwrap() error { return e.Err }

// Restrict adds f to q; some is false if no run can match f. The error is a *FilterError.
func (f Filter) Restrict(q *Query, now time.Time) (some bool, err error) {
	q.Status, q.Kind, q.Oldest = recovery.Status(f.Status), failure.Kind(f.Kind), f.Order == "oldest"
	switch {
	case f.Status != "" && !slices.Contains(statuses, q.Status):
		return false, &FilterError{"status", fmt.Errorf("a run is running, waiting, completed, failed or cancelled, not %q", f.Status)}
	case f.Kind != "" && !q.Kind.Known():
		return false, &FilterError{"kind", fmt.Errorf("%q is not a kind of failure; for example overloaded, rate_limit or timeout", f.Kind)}
	case f.Order != "" && f.Order != "newest" && !q.Oldest:
		return false, &FilterError{"order", fmt.Errorf("%q is neither newest nor oldest", f.Order)}
	}
	if q.Since, err = moment(f.Since, now); err != nil {
		return false, &FilterError{"since", err}
	}
	if q.Until, err = moment(f.Until, now); err != nil {
		return false, &FilterError{"until", err}
	}
	if q.Labels, some, err = wantedLabels(f.Labels); err != nil {
		return false, &FilterError{"label", err}
	}
	return some, nil
}

// statuses are all statuses of a run.
var statuses = []recovery.Status{
	recovery.StatusRunning, recovery.StatusWaiting, recovery.StatusCompleted, recovery.StatusFailed, recovery.StatusCancelled,
}

// wantedLabels reads the labels that are asked for; some is false if one label is asked for with
// two values, which no run has.
func wantedLabels(written []string) (labels recovery.Labels, some bool, err error) {
	labels = recovery.Labels{}
	for _, text := range written {
		one, err := recovery.ParseLabels([]string{text})
		if err != nil {
			return nil, false, err
		}
		for key, value := range one {
			if other, again := labels[key]; again && other != value {
				return nil, false, nil
			}
			labels[key] = value
		}
	}
	return labels, true, nil
}

// moment reads a time or an age.
func moment(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339, "2006-01-02T15:04"} {
		t, err := time.ParseInLocation(layout, text, now.Location())
		if err == nil && (t.Year() < 1970 || t.Year() > 2199) { // stores count nanoseconds in 64 bits
			return time.Time{}, fmt.Errorf("%q is not between 1970 and 2199", text)
		}
		if err == nil {
			return t, nil
		}
	}
	age, err := ParseAge(text)
	if err != nil {
		return time.Time{}, fmt.Errorf("%q is not a time: write for example 2026-01-31, 2026-01-31T09:30:00Z, 12h or 7d", text)
	}
	return now.Add(-age), nil
}

// ParseAge reads a duration that may be in days, such as 12h or 7d; at most ten years.
func ParseAge(text string) (time.Duration, error) {
	const most = 10 * 365
	if n, ok := strings.CutSuffix(text, "d"); ok {
		days, err := strconv.Atoi(n)
		if err != nil || days < 0 || days > most {
			return 0, fmt.Errorf("%q is not a number of days", text)
		}
		return time.Duration(days) * 24 * time.Hour, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || d > most*24*time.Hour {
		return 0, fmt.Errorf("%q is not an age: write for example 12h or 7d", text)
	}
	return d, nil
}
