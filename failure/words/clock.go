package words

import (
	"strings"
	"time"
)

// The ways in which the text of an event tells a time: nobody knows yet where it is read.
const (
	UTCClock = "15:04 MST"
	UTCDay   = "15:04 MST on January 2"
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
	for _, layout := range []string{UTCDay, UTCClock} {
		text = strings.ReplaceAll(text, at.UTC().Format(layout), Clock(at, now))
	}
	return text
}
