package recovery

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// maxReset is how far away a named date may be to be believed: a monthly plan.
const maxReset = 35 * 24 * time.Hour

// hint is when a provider wants to be asked again: after a while, at a time, or both.
type hint struct {
	after Millis    // 0 = not said
	at    time.Time // zero = not said
}

// retryHint reads what the provider itself asks for, in the order of preference:
// retry-after-ms and retry-after, RetryInfo.retryDelay, the wording. Of several the
// longest counts. What is not a number, negative, or more than 7 days is no hint.
func retryHint(e *Evidence, s *signals, text string) hint {
	now := e.now()
	wait := max(
		retryAfterMillis(e.header("Retry-After-Ms")),
		retryAfter(e.header("Retry-After"), now),
		bounded(parseDelay(s.delay)),
		bounded(spokenDelay(text)),
	)
	h := hint{after: wait}
	if at, ok := spokenDate(text); ok {
		h.at = at
		if !now.IsZero() {
			if until := at.Sub(now); until <= 0 || until > maxReset {
				h.at = time.Time{}
			} else {
				h.after = max(h.after, bounded(until))
			}
		}
	}
	return h
}

// resetHint reads the headers that say when a used-up allowance is full again. Those
// whose allowance is not used up are ignored.
func resetHint(e *Evidence) hint {
	now := e.now()
	var h hint
	for name, values := range e.Header {
		lower := strings.ToLower(name)
		if len(values) == 0 || !strings.Contains(lower, "ratelimit") || !strings.Contains(lower, "reset") {
			continue
		}
		if left := e.header(strings.Replace(lower, "reset", "remaining", 1)); left != "" && left != "0" {
			continue
		}
		h = h.later(parseReset(values[0], now))
	}
	return h
}

func (h hint) later(other hint) hint {
	h.after = max(h.after, other.after)
	if other.at.After(h.at) {
		h.at = other.at
	}
	return h
}

// now is what dates are relative to: the answer's own Date header, else the arrival.
func (e *Evidence) now() time.Time {
	if date, ok := httpDate(e.header("Date")); ok {
		return date
	}
	return e.At
}

// header gives the first value of a header, whatever the case of its name.
func (e *Evidence) header(name string) string {
	for key, values := range e.Header {
		if len(values) > 0 && strings.EqualFold(key, name) {
			return strings.TrimSpace(values[0])
		}
	}
	return ""
}

func retryAfterMillis(value string) Millis {
	n, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return 0
	}
	return bounded(seconds(n / 1000))
}

// retryAfter reads seconds, whole or not, or an HTTP date.
func retryAfter(value string, now time.Time) Millis {
	if n, err := strconv.ParseFloat(value, 64); err == nil {
		return bounded(seconds(n))
	}
	if date, ok := httpDate(value); ok && !now.IsZero() {
		return bounded(date.Sub(now))
	}
	return 0
}

// parseReset reads RFC 3339, epoch seconds, a Go duration, or seconds.
func parseReset(value string, now time.Time) hint {
	value = strings.TrimSpace(value)
	at, err := time.Parse(time.RFC3339, value)
	if err != nil {
		n, numeric := strconv.ParseFloat(value, 64)
		if numeric != nil || !(n > 1e9 && n < 1e13) {
			return hint{after: bounded(parseDelay(value))}
		}
		if n > 1e11 {
			n /= 1000 // milliseconds
		}
		at = time.Unix(int64(n), 0).UTC()
	}
	if now.IsZero() || !at.After(now) || at.Sub(now) > maxReset {
		return hint{}
	}
	return hint{after: bounded(at.Sub(now)), at: at}
}

// parseDelay reads "40s", "6m0s", "900ms", "34.07s" or plain seconds.
func parseDelay(value string) time.Duration {
	if d, err := time.ParseDuration(strings.ToLower(value)); err == nil {
		return d
	}
	if n, err := strconv.ParseFloat(value, 64); err == nil {
		return seconds(n)
	}
	return 0
}

func seconds(n float64) time.Duration {
	if math.IsNaN(n) || n <= 0 || n > MaxDelay.Duration().Seconds() {
		return 0
	}
	return time.Duration(n * float64(time.Second))
}

// bounded gives d in milliseconds, or 0 where it is no sensible wait.
func bounded(d time.Duration) Millis {
	if d <= 0 || d > MaxDelay.Duration() {
		return 0
	}
	return InMillis(d)
}

func httpDate(value string) (time.Time, bool) {
	for _, layout := range []string{time.RFC1123, time.RFC1123Z, time.RFC850, time.ANSIC} {
		if t, err := time.Parse(layout, value); err == nil {
			return t.UTC(), true
		}
	}
	return time.Time{}, false
}

// delayLeads are the words before a spoken delay.
var delayLeads = []string{"retry in ", "try again in ", "retry after ", "try again after ", "again after ", "reset after ", "resets in ", "reset in ", "wait ", "after "}

// spokenDelay finds "Please retry in 40.02s", "try again in 6m0s", "after 86400 seconds";
// text is in lower case.
func spokenDelay(text string) time.Duration {
	var longest time.Duration
	for _, lead := range delayLeads {
		if i := strings.Index(text, lead); i >= 0 {
			longest = max(longest, leadingDelay(text[i+len(lead):]))
		}
	}
	return longest
}

// leadingDelay reads the delay that text begins with: 9.816s, 6m0s, 2 minutes, 1h 5m.
func leadingDelay(text string) time.Duration {
	var total time.Duration
	for range 4 {
		text = strings.TrimLeft(text, " ")
		digits := strings.IndexFunc(text, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
		if digits <= 0 {
			break
		}
		n, err := strconv.ParseFloat(text[:digits], 64)
		if err != nil {
			break
		}
		text = strings.TrimLeft(text[digits:], " ")
		letters := strings.IndexFunc(text, func(r rune) bool { return r < 'a' || r > 'z' })
		if letters < 0 {
			letters = len(text)
		}
		unit, ok := units[text[:letters]]
		if !ok {
			break
		}
		total += seconds(n * unit)
		text = text[letters:]
	}
	return total
}

// units are in seconds.
var units = map[string]float64{
	"ms": 0.001, "millisecond": 0.001, "milliseconds": 0.001,
	"s": 1, "sec": 1, "secs": 1, "second": 1, "seconds": 1,
	"m": 60, "min": 60, "mins": 60, "minute": 60, "minutes": 60,
	"h": 3600, "hr": 3600, "hrs": 3600, "hour": 3600, "hours": 3600,
	"d": 86400, "day": 86400, "days": 86400,
}

// dateLeads are the words before a spoken date.
var dateLeads = []string{"regain access on ", "access on ", "resets at ", "reset at ", "resets on ", "reset on ", "again at ", "again on ", "until "}

// spokenDate finds "regain access on 2026-04-01 at 00:00 UTC"; text is in lower case.
func spokenDate(text string) (time.Time, bool) {
	for _, lead := range dateLeads {
		i := strings.Index(text, lead)
		if i < 0 {
			continue
		}
		words := strings.ToUpper(Clip(text[i+len(lead):], 40))
		words = strings.Replace(words, " AT ", " ", 1)
		for _, layout := range []string{"2006-01-02 15:04 MST", time.RFC3339, "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02"} {
			n := len(layout)
			if layout == time.RFC3339 {
				n = len("2006-01-02T15:04:05Z")
			}
			if len(words) < n {
				continue
			}
			if at, err := time.Parse(layout, words[:n]); err == nil {
				return at.UTC(), true
			}
		}
	}
	return time.Time{}, false
}
