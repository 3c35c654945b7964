package timeline

import (
	"strings"
	"time"
	"unicode"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
)

// MaxTitle is the most that Summary.Title holds, in characters.
const MaxTitle = 80

// DefaultLimit is how many runs List gives if a Query does not say.
const DefaultLimit = 50

// Query says which runs to list. Empty fields do not restrict.
type Query struct {
	Status  recovery.Status
	Session string
	Limit   int    // 0 = DefaultLimit
	Before  string // a run: only those older than it, to go on where a list ended
}

// Summary is a run in one line of a list. It is kept by Apply, append by append,
// without folding the run.
type Summary struct {
	Run, Session   string
	Model          string // asked last, or to be asked first
	Title          string // the beginning of the user's input, on one line
	Status         recovery.Status
	StartedAt      time.Time
	UpdatedAt      time.Time // of its last event
	Seq            uint64    // of its last event
	SuggestionOpen bool
	Asking         string // id of the suggestion or live wait that a person may answer
	Ended          bool   // the run has its Ended event
	Owner          string // of the newest epoch; "" if it was released
	WaitingUntil   time.Time
}

// Apply changes s by the run's next event, by the rules of recovery.Run.Apply.
func (s *Summary) Apply(e recovery.Event) {
	s.Run, s.Seq, s.UpdatedAt = e.Run, e.Seq, e.Time
	if s.Ended {
		return
	}
	switch b := e.Body.(type) {
	case recovery.Started:
		s.Session, s.Model, s.Title, s.StartedAt = b.Session, b.Model, title(b.Input), e.Time
		s.stand(recovery.StatusRunning)
	case recovery.Claimed:
		if s.Status == recovery.StatusWaiting && s.Asking == "" && s.WaitingUntil.IsZero() {
			s.stand(recovery.StatusRunning) // it waited for its store
		}
	case recovery.Began:
		s.Model = b.Model
		s.stand(recovery.StatusRunning)
	case recovery.Failed:
		s.stand(recovery.StatusRunning)
	case recovery.Waiting:
		s.stand(recovery.StatusWaiting)
		s.Asking, s.WaitingUntil = b.ID, b.Until
	case recovery.Due:
		if b.Timer == recovery.TimerWait && s.Status == recovery.StatusWaiting {
			s.stand(recovery.StatusRunning)
		}
	case recovery.Suggested:
		s.stand(recovery.StatusFailed)
		if b.Suggestion.SuggestedAction != recovery.ActionFail {
			s.SuggestionOpen, s.Asking = true, b.Suggestion.ID
		}
	case recovery.Accepted:
		if s.Asking != "" && s.Asking == b.Suggestion {
			s.stand(recovery.StatusRunning)
		}
	case recovery.Paused:
		s.stand(recovery.StatusWaiting)
	case recovery.Ended:
		s.stand(b.Status)
		s.Ended = true
	}
}

func (s *Summary) stand(status recovery.Status) {
	s.Status, s.SuggestionOpen, s.Asking, s.WaitingUntil = status, false, "", time.Time{}
}

// title is the beginning of what the user said, on one line.
func title(input []llm.Message) string {
	for _, m := range input {
		if m.Role == llm.RoleUser {
			return line(m.Text())
		}
	}
	return ""
}

// line is the beginning of text with single spaces and nothing else between its words.
func line(text string) string {
	var title []rune
	space := false
	for _, r := range text {
		switch {
		case len(title) >= MaxTitle:
			return strings.TrimRight(string(title[:MaxTitle]), " ")
		case unicode.IsSpace(r) || unicode.IsControl(r):
			space = len(title) > 0
		case space:
			title = append(title, ' ', r)
			space = false
		default:
			title = append(title, r)
		}
	}
	return strings.TrimRight(string(title[:min(len(title), MaxTitle)]), " ")
}
