package recovery

import (
	"strings"
	"time"
)

// The ways in which the text of an event tells a time: nobody knows yet where it is read.
const (
	utcClock = "15:04 MST"
	utcDay   = "15:04 MST on January 2"
)

// Clock is a time of day for people where now is told: "3:00 PM", with its date where that is
// another one.
func Clock(at, now time.Time) string {
	at = at.In(now.Location())
	switch {
	case at.Year() != now.Year():
		return at.Format("3:04 PM on January 2, 2006")
	case at.YearDay() != now.YearDay():
		return at.Format("3:04 PM on January 2")
	}
	return at.Format("3:04 PM")
}

// Localize puts a time that the text of an event, of a button or of a Failure tells in UTC as
// Clock says it where now is told.
func Localize(text string, at, now time.Time) string {
	if at.IsZero() {
		return text
	}
	for _, layout := range []string{utcDay, utcClock} {
		text = strings.ReplaceAll(text, at.UTC().Format(layout), Clock(at, now))
	}
	return text
}

// LocalText is the text of an event of r with its times as Clock says them where now is told.
func LocalText(r *Run, e Event, now time.Time) string {
	text := e.Text
	switch b := e.Body.(type) {
	case Failed:
		text = Localize(text, b.Failure.ResetsAt, now)
	case Waiting:
		text = Localize(text, b.Until, now)
	case Suggested:
		text = Localize(Localize(text, b.Suggestion.ResetsAt, now), b.Suggestion.Error.ResetsAt, now)
	case Accepted:
		if r.Suggestion != nil {
			text = Localize(text, r.Suggestion.ResetsAt, now)
		}
	}
	return text
}

// LocalLine is Line with its times as Clock says them where now is told.
func (f Failure) LocalLine(now time.Time) string { return Localize(f.Line(), f.ResetsAt, now) }
