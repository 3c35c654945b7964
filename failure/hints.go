package failure

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mulligan-run/mulligan/failure/words"
)

// maxReset is how far away a date may be and still be believed: long enough for a monthly plan.
const maxReset = 35 * 24 * time.Hour

// lastYear is the last year that JSON can express.
const lastYear = 9999

// hint says when a provider wants to be asked again: after a delay, at a time, or both.
type hint struct {
	after     Millis    // 0 = not said
	at        time.Time // zero = not said
	by        Clue      // the clue that says so
	overruled Clue      // a clue that also says so, but is ignored
}

// comeBack sets in f when to try again, and gives the hint behind it. Reset headers say when an
// allowance is full again, so they count only if one is used up.
func (c *reading) comeBack(v verdict, f *Failure) hint {
	h := c.retryHint(v)
	if h.after == 0 && (f.Kind == KindRateLimit || f.Kind == KindQuota) {
		h = h.later(c.resetHint())
	}
	f.RetryAfter = h.after
	if f.Kind != KindQuota {
		return h
	}
	f.ResetsAt = h.at
	if f.ResetsAt.IsZero() && h.after > 0 && !c.now.IsZero() {
		f.ResetsAt = c.now.Add(h.after.Duration())
	}
	return h
}

// retryHint reads how long the provider asks to wait: from retry-after-ms and retry-after, from
// RetryInfo.retryDelay and the like, and from its words. The longest counts. A value that is not a
// number, is negative, or is more than 7 days is ignored. When a day's quota is used up, Google
// still sends the delay of its limit per minute, which is ignored, too.
func (c *reading) retryHint(v verdict) hint {
	h := c.headerHint("Retry-After-Ms", retryAfterMillis)
	h = h.later(c.headerHint("Retry-After", func(value string) Millis { return retryAfter(value, c.now) }))
	inBody := fieldHint(c.body.delay).later(fieldHint(c.body.after))
	inBody = inBody.later(c.spokenHint(v.kind))
	if v.daily && inBody.after <= longDelay {
		h.overruled = inBody.by
	} else {
		h = h.later(inBody)
	}
	if at, phrase, ok := c.spokenDate(); ok {
		h = h.later(c.hintAt(at, c.words(phrase)))
	}
	return h
}

func (c *reading) headerHint(name string, read func(string) Millis) hint {
	value := c.e.header(name)
	after := Millis(0)
	if value != "" {
		after = read(value)
	}
	if after == 0 {
		return hint{}
	}
	return hint{after: after, by: Clue{Source: ClueHeader, Where: strings.ToLower(name), Value: value}}
}

// fieldHint reads a field of the body: "40s", "900ms", or seconds unless its name says
// milliseconds.
func fieldHint(field member) hint {
	after := bounded(parseDelay(field.value))
	if strings.HasSuffix(strings.ToLower(field.name), "ms") {
		after = retryAfterMillis(field.value)
	}
	if after == 0 {
		return hint{}
	}
	return hint{after: after, by: Clue{Source: ClueHint, Where: field.name, Value: field.value}}
}

// spokenHint reads a delay in the words. "after 30 s" alone might say how long the call took, so it
// counts only for a limit or an overloaded server.
func (c *reading) spokenHint(kind Kind) hint {
	delay, phrase := c.spokenDelay(delayLeads)
	if kind == KindRateLimit || kind == KindQuota || kind == KindOverloaded {
		if loose, said := c.spokenDelay(looseDelayLeads); loose > delay {
			delay, phrase = loose, said
		}
	}
	if after := bounded(delay); after > 0 {
		return hint{after: after, by: c.words(phrase)}
	}
	return hint{}
}

// hintAt is the hint for a date; none if the date is past or too far away.
func (c *reading) hintAt(at time.Time, by Clue) hint {
	if c.now.IsZero() && at.Year() <= lastYear {
		return hint{at: at, by: by}
	}
	until := at.Sub(c.now)
	if until <= 0 || until > maxReset {
		return hint{}
	}
	return hint{after: bounded(until), at: at, by: by}
}

// resetHint reads the headers and fields that say when a used-up allowance is full again.
// Allowances that are not used up are ignored.
func (c *reading) resetHint() hint {
	limits := map[string]string{}
	var resets []string
	for name, values := range c.e.Header {
		name = strings.ToLower(name)
		if len(values) == 0 || !strings.Contains(name, "ratelimit") {
			continue
		}
		limits[name] = strings.TrimSpace(values[0])
		if strings.Contains(name, "reset") {
			resets = append(resets, name)
		}
	}
	slices.Sort(resets)
	var h hint
	for _, name := range resets {
		left, status := limits[strings.Replace(name, "reset", "remaining", 1)], limits[strings.Replace(name, "reset", "status", 1)]
		if left != "" && left != "0" || strings.HasPrefix(status, "allowed") {
			continue
		}
		h = h.later(c.parseReset(limits[name], Clue{Source: ClueHeader, Where: name, Value: limits[name]}))
	}
	if field := c.body.reset; field.value != "" {
		h = h.later(c.parseReset(field.value, Clue{Source: ClueHint, Where: field.name, Value: field.value}))
	}
	return h
}

// later combines two hints: the longer delay and the later time.
func (h hint) later(other hint) hint {
	if other.after > h.after || h.by.isZero() {
		h.by = other.by
	}
	h.after = max(h.after, other.after)
	if other.at.After(h.at) {
		h.at = other.at
	}
	if h.overruled.isZero() {
		h.overruled = other.overruled
	}
	return h
}

// now is the time that dates are relative to: the answer's Date header, otherwise the arrival.
func (e *Evidence) now() time.Time {
	if date, ok := httpDate(e.header("Date")); ok {
		return date
	}
	return e.At
}

// header gives the first value of a header, ignoring the case of its name.
func (e *Evidence) header(name string) string {
	if values := e.Header[name]; len(values) > 0 {
		return strings.TrimSpace(values[0])
	}
	found, value := "", ""
	for key, values := range e.Header {
		if len(values) > 0 && len(key) == len(name) && strings.EqualFold(key, name) && (found == "" || key < found) {
			found, value = key, strings.TrimSpace(values[0])
		}
	}
	return value
}

func retryAfterMillis(value string) Millis {
	n, err := decimal(value)
	if err != nil {
		return 0
	}
	return bounded(seconds(n / 1000))
}

// retryAfter reads a number of seconds, or an HTTP date.
func retryAfter(value string, now time.Time) Millis {
	if n, err := decimal(value); err == nil {
		return bounded(seconds(n))
	}
	if date, ok := httpDate(value); ok && !now.IsZero() {
		return bounded(date.Sub(now))
	}
	return 0
}

// parseReset reads RFC 3339, epoch seconds or milliseconds, a Go duration, or seconds.
func (c *reading) parseReset(value string, by Clue) hint {
	at, err := time.Parse(time.RFC3339, value)
	if err == nil {
		return c.resetAt(at, by)
	}
	if n, err := decimal(value); err == nil && n > 1e9 && n < 1e13 {
		if n > 1e11 {
			n /= 1000 // milliseconds
		}
		return c.resetAt(time.Unix(int64(n), 0).UTC(), by)
	}
	if after := bounded(parseDelay(value)); after > 0 {
		return hint{after: after, by: by}
	}
	return hint{}
}

// resetAt is the hint for a header's date, which means nothing unless the current time is known.
func (c *reading) resetAt(at time.Time, by Clue) hint {
	if c.now.IsZero() {
		return hint{}
	}
	return c.hintAt(at, by)
}

// parseDelay reads "40s", "6m0s", "900ms", "34.07s" or plain seconds.
func parseDelay(value string) time.Duration {
	if !mayBeNumber(value) {
		return 0 // errors of the parsers would cost more than all the rest
	}
	if d, err := time.ParseDuration(strings.ToLower(value)); err == nil {
		return d
	}
	if n, err := decimal(value); err == nil {
		return seconds(n)
	}
	return 0
}

// mayBeNumber is false for most texts that begin with no number.
func mayBeNumber(text string) bool {
	return text != "" && (text[0] <= '9' && text[0] >= '0' || strings.IndexByte("+-.", text[0]) >= 0)
}

// decimal reads a number as people and programs write it, without Go's hexadecimal and "inf".
func decimal(value string) (float64, error) {
	if strings.Trim(value, "0123456789+-.eE") != "" {
		return 0, strconv.ErrSyntax
	}
	return strconv.ParseFloat(value, 64)
}

func seconds(n float64) time.Duration {
	if math.IsNaN(n) || n <= 0 || n > MaxDelay.Duration().Seconds() {
		return 0
	}
	return time.Duration(n * float64(time.Second))
}

// bounded gives d in milliseconds, or 0 if d is not a sensible delay.
func bounded(d time.Duration) Millis {
	if d <= 0 || d > MaxDelay.Duration() {
		return 0
	}
	return InMillis(d)
}

func httpDate(value string) (time.Time, bool) {
	if value == "" {
		return time.Time{}, false
	}
	for _, layout := range []string{time.RFC1123, time.RFC1123Z, time.RFC850, time.ANSIC} {
		if t, err := time.ParseInLocation(layout, value, time.UTC); err == nil {
			return t.UTC(), true
		}
	}
	return time.Time{}, false
}

var (
	// delayLeads are the words before a delay in a message.
	delayLeads = []string{"retry in ", "try again in ", "again in ", "retry after ", "try again after ", "again after ", "reset after ", "resets after ", "resets in ", "reset in ", "available in "}
	// looseDelayLeads introduce a delay only where a limit was reached.
	looseDelayLeads = []string{"wait ", "wait for ", "after "}
)

// spokenDelay finds "Please retry in 40.02s", "try again in 6m0s", "after 86400 seconds", and gives
// the longest delay and the words that say it.
func (c *reading) spokenDelay(leads []string) (longest time.Duration, phrase string) {
	text := c.text
	for _, lead := range leads {
		for from := 0; !c.grams.lacks(lead); {
			i := strings.Index(text[from:], lead)
			if i < 0 {
				break
			}
			begin := from + i
			from = begin + len(lead)
			if d, n := leadingDelay(text[from:]); d > longest {
				longest, phrase = d, text[begin:from+n]
			}
		}
	}
	return longest, phrase
}

// leadingDelay reads the delay at the beginning of text, and gives its length in bytes: 9.816s,
// 6m0s, 2 minutes, 1h 5m.
func leadingDelay(text string) (total time.Duration, length int) {
	rest := text
	for range 4 {
		rest = strings.TrimLeft(rest, " ")
		digits := prefixLen(rest, "0123456789.")
		n, err := decimal(strings.TrimRight(rest[:digits], "."))
		if err != nil {
			break
		}
		rest = strings.TrimLeft(rest[digits:], " ")
		letters := prefixLen(rest, "abcdefghijklmnopqrstuvwxyz")
		unit, ok := units[rest[:letters]]
		if !ok {
			break
		}
		rest = rest[letters:]
		total, length = total+seconds(n*unit), len(text)-len(rest)
	}
	return total, length
}

// prefixLen is how many of the first 32 bytes of text are among chars.
func prefixLen(text, chars string) int {
	n := 0
	for n < len(text) && n < 32 && strings.IndexByte(chars, text[n]) >= 0 {
		n++
	}
	return n
}

// units are in seconds.
var units = map[string]float64{
	"ms": 0.001, "millisecond": 0.001, "milliseconds": 0.001,
	"s": 1, "sec": 1, "secs": 1, "second": 1, "seconds": 1,
	"m": 60, "min": 60, "mins": 60, "minute": 60, "minutes": 60,
	"h": 3600, "hr": 3600, "hrs": 3600, "hour": 3600, "hours": 3600,
	"d": 86400, "day": 86400, "days": 86400,
}

// dateLeads are the words before a date in a message.
var dateLeads = []string{"regain access on ", "access on ", "resets at ", "reset at ", "resets on ", "reset on ", "again at ", "again on ", "until "}

// spokenDate finds "regain access on 2026-04-01 at 00:00 UTC", and gives the words that say it.
func (c *reading) spokenDate() (at time.Time, phrase string, ok bool) {
	text := c.text
	for _, lead := range dateLeads {
		if !c.says(lead) {
			continue
		}
		i := strings.Index(text, lead)
		at, n := leadingDate(text[i+len(lead):])
		if n > 0 {
			return at, text[i : i+len(lead)+n], true
		}
	}
	return time.Time{}, "", false
}

// leadingDate reads the date at the beginning of text, and gives its length in bytes.
func leadingDate(text string) (time.Time, int) {
	upper := strings.ToUpper(text[:min(len(text), len("2006-01-02 at 15:04:05 UTC"))])
	for _, layout := range []string{
		"2006-01-02 AT 15:04 MST", "2006-01-02 15:04:05 MST", "2006-01-02 15:04 MST", "2006-01-02T15:04:05-07:00", "2006-01-02T15:04:05Z",
		"2006-01-02 AT 15:04", "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02",
	} {
		if n := len(layout); len(upper) < n || len(upper) > n && words.IsWord(upper[n]) {
			continue
		}
		if at, err := time.ParseInLocation(layout, upper[:len(layout)], time.UTC); err == nil {
			return at.UTC(), len(layout)
		}
	}
	return time.Time{}, 0
}
