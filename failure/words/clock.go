package words

import (
	"strings"
	"time"
)

// The forms of a time in an event's text, which is in UTC because the reader's time zone is not
// known yet.
const (
	UTCClock = "15:04 MST"
	UTCDay   = "15:04 MST on January 2"
)

// Clock writes a time of day for people, in the time zone of now: "3:00 PM", with the date if it
// is not today.
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

// Localize replaces the time at, which the text of an event, a button or a Failure gives in UTC,
// with what Clock writes for it.
func Localize(text string, at, now time.Time) string {
	if at.IsZero() {
		return text
	}
	for _, layout := range []string{UTCDay, UTCClock} {
		text = strings.ReplaceAll(text, at.UTC().Format(layout), Clock(at, now))
	}
	return text
}
