package recovery

import (
	"time"

	"github.com/mulligan-run/mulligan/failure/words"
)

// LocalText is the text of an event of r with the times of day written by words.Clock for somebody
// who reads it at now.
func LocalText(r *Run, e Event, now time.Time) string {
	text := e.Text
	switch b := e.Body.(type) {
	case Started:
		if b.Stays != nil {
			text = words.Localize(text, b.Stays.Until, now)
		}
	case Failed:
		text = words.Localize(text, b.Failure.ResetsAt, now)
	case Waiting:
		text = words.Localize(text, b.Until, now)
	case Suggested:
		text = words.Localize(words.Localize(text, b.Suggestion.ResetsAt, now), b.Suggestion.Error.ResetsAt, now)
	case Accepted:
		if r.Suggestion != nil {
			text = words.Localize(text, r.Suggestion.ResetsAt, now)
		}
	}
	return text
}
