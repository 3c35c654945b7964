package timeline

import (
	"strings"
	"time"
	"unicode"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
)

// MaxTitle is the longest Summary.Title, in characters.
const MaxTitle = 80

// DefaultLimit is how many runs List gives if a Query does not say.
const DefaultLimit = 50

// Query says which runs to list. Empty fields do not restrict. The newest run comes first; with
// Oldest, the oldest; with Waiting or Due, the run with the earliest DueAt.
type Query struct {
	Status    recovery.Status
	Session   string
	Model     string
	Kind      failure.Kind    // of the last failure, even if the run has recovered from it
	DecidedBy string          // a plugin, or DecidedByPerson
	Labels    recovery.Labels // only runs that have all of these
	Waiting   bool            // only waiting ones
	// Text must occur in Summary.Words, in upper or lower case.
	Text string
	// Since and Until bound the time at which a run started: at or after Since, and before Until.
	Since, Until time.Time
	// SuggestionOpen selects runs with an open suggestion; Summary.Asks says whether its time is
	// over.
	SuggestionOpen bool
	// Due selects runs whose DueAt is not after that time and that no living owner holds, by the
	// rules of Log.Claim. It also selects runs with an unanswered command in their inbox, whenever
	// they are due.
	Due time.Time
	// Able are the labels of a machine: only runs that need no others are selected. nil = all runs.
	Able    recovery.Labels
	Needing bool // only runs that need certain labels of a machine
	Oldest  bool
	Limit   int    // 0 = DefaultLimit
	Before  string // a run: only runs older than it (newer ones with Oldest), to continue a list
}

// selects reports whether q asks for a run with summary s and that many commands in its inbox,
// ignoring who holds it, Limit and Before.
func (q Query) selects(s Summary, inbox uint64) bool {
	switch {
	case s.Seq == 0,
		q.Status != "" && s.Status != q.Status,
		q.Session != "" && s.Session != q.Session,
		len(q.Labels) > 0 && !s.Labels.Labels().Has(q.Labels),
		q.Waiting && s.Status != recovery.StatusWaiting,
		q.SuggestionOpen && !s.SuggestionOpen,
		q.Able != nil && !q.Able.Has(s.Needs.Labels()),
		q.Needing && s.Needs == "",
		!q.describes(s),
		!q.Due.IsZero() && !s.isDue(q.Due, inbox):
		return false
	}
	return true
}

// describes reports whether s matches what q says about how the run went.
func (q Query) describes(s Summary) bool {
	return (q.Model == "" || s.Model == q.Model) && (q.Kind == "" || s.Kind == q.Kind) && (q.DecidedBy == "" || s.DecidedBy == q.DecidedBy) &&
		(q.Since.IsZero() || !s.StartedAt.Before(q.Since)) && (q.Until.IsZero() || s.StartedAt.Before(q.Until)) &&
		(q.Text == "" || strings.Contains(s.Words(), strings.ToLower(q.Text)))
}

func (s Summary) isDue(at time.Time, inbox uint64) bool {
	return !s.DueAt.IsZero() && !s.DueAt.After(at) || inbox > s.Heard && !s.Ended
}

// ByDueAt reports whether q's list is in the order of DueAt.
func (q Query) ByDueAt() bool { return q.Waiting || !q.Due.IsZero() }

// Summary is a run as one line of a list. Apply updates it with every append, without folding the
// run.
type Summary struct {
	Run, Session   string
	Model          string // the model asked last, or to be asked first
	Title          string // the beginning of the user's input, on one line
	Labels         LabelText
	Needs          LabelText // the labels that a machine must have to drive the run
	Status         recovery.Status
	StartedAt      time.Time
	UpdatedAt      time.Time // of its last event
	Seq            uint64    // of its last event
	Heard          uint64    // the last position in its inbox that an event answered
	SuggestionOpen bool
	Asking         string           // id of the suggestion or live wait that a person may answer
	Ended          bool             // the run has its Ended event
	Owner          string           // of the newest epoch; "" if it was released
	WaitingFor     recovery.WaitFor // "" unless it waits
	WaitingUntil   time.Time        // zero if not known
	Kind           failure.Kind     // of its last failure, even if the run has recovered from it
	Problem        string           // the title of that failure, and on a second line the beginning of its message
	DecidedBy      string           // the plugin that decided last, or DecidedByPerson
	Course         CourseText
	// DueAt is when the run next needs an owner, if it has none: at the end of its wait, or of its
	// suggestion's time; at the time of its last event if it waits for nothing; zero once it has
	// ended.
	DueAt time.Time
}

// Apply updates s by the run's next events, by the rules of recovery.Run.Apply.
func (s *Summary) Apply(events ...recovery.Event) {
	course := coursing{text: s.Course}
	for _, e := range events {
		s.apply(e, &course)
	}
	s.Course = course.encoded()
}

func (s *Summary) apply(e recovery.Event, course *coursing) {
	s.Run, s.Seq, s.UpdatedAt, s.Heard = e.Run, e.Seq, e.Time, max(s.Heard, e.Inbox)
	if s.Ended {
		return
	}
	if !s.asleep() {
		s.DueAt = e.Time
	}
	s.note(e.Body, course)
	switch b := e.Body.(type) {
	case recovery.Started:
		s.Session, s.Model, s.Title, s.StartedAt = b.Session, b.Model, title(b.Input), e.Time
		s.Labels, s.Needs = labelText(b.Labels), labelText(b.Needs)
		s.stand(recovery.StatusRunning, e.Time)
	case recovery.Claimed:
		if s.WaitingFor == recovery.WaitStore {
			s.stand(recovery.StatusRunning, e.Time)
		}
	case recovery.Began:
		s.Model = b.Model
		s.stand(recovery.StatusRunning, e.Time)
	case recovery.Failed:
		s.stand(recovery.StatusRunning, e.Time)
	case recovery.Waiting:
		s.stand(recovery.StatusWaiting, e.Time)
		s.Asking, s.WaitingFor, s.WaitingUntil = b.ID, b.For, b.Until
		if s.asleep() {
			s.DueAt = b.Until
		}
	case recovery.Due:
		s.DueAt = e.Time
		if s.Status == recovery.StatusWaiting && (b.Timer == failure.TimerWait || b.Timer == failure.TimerNetwork) {
			s.stand(recovery.StatusRunning, e.Time)
		}
	case recovery.ToolReturned:
		if s.WaitingFor == recovery.WaitTool {
			s.stand(recovery.StatusRunning, e.Time)
		}
	case recovery.Suggested:
		s.stand(recovery.StatusFailed, e.Time)
		if b.Suggestion.SuggestedAction != recovery.ActionFail {
			s.SuggestionOpen, s.Asking, s.DueAt = true, b.Suggestion.ID, b.Suggestion.ExpiresAt
		}
	case recovery.Accepted:
		if s.Asking != "" && s.Asking == b.Suggestion {
			s.stand(recovery.StatusRunning, e.Time)
		}
	case recovery.CancelRequested:
		s.DueAt = e.Time
	case recovery.Paused:
		if b.For <= 0 {
			s.stand(recovery.StatusWaiting, e.Time)
			s.WaitingFor = recovery.WaitStore
		}
	case recovery.Ended:
		s.stand(b.Status, time.Time{})
		s.Ended = true
	}
}

// Asks reports whether a person may answer the run's suggestion at now: it is open, and its time is
// not over, whether or not an event says so yet.
func (s Summary) Asks(now time.Time) bool { return s.SuggestionOpen && now.Before(s.DueAt) }

// Words are searched for Query.Text: the title, the failure's text and its kind and code, in lower
// case.
func (s Summary) Words() string {
	words := s.Title
	if s.Kind != "" {
		words += "\n" + s.Problem + "\n" + string(s.Kind) + " " + string(s.Kind.Code())
	}
	return strings.ToLower(words)
}

// stand sets the run's status and clears what it waited for.
func (s *Summary) stand(status recovery.Status, due time.Time) {
	s.Status, s.DueAt = status, due
	s.SuggestionOpen, s.Asking, s.WaitingFor, s.WaitingUntil = false, "", "", time.Time{}
}

// asleep reports whether the run needs no owner before a known time. A wait for the network or the
// store has no such time: some process must look.
func (s *Summary) asleep() bool {
	switch s.WaitingFor {
	case recovery.WaitNetwork, recovery.WaitStore:
		return false
	case recovery.WaitTime, recovery.WaitReset, recovery.WaitCaller, recovery.WaitTool:
	}
	return s.SuggestionOpen || !s.WaitingUntil.IsZero()
}

// title is the beginning of the user's input, on one line.
func title(input []llm.Message) string {
	for _, m := range input {
		if m.Role == llm.RoleUser {
			return line(m.Text(), MaxTitle)
		}
	}
	return ""
}

// line is the beginning of text, at most that many characters, with single spaces between its
// words.
func line(text string, most int) string {
	var title []rune
	space := false
	for _, r := range text {
		switch {
		case len(title) >= most:
			return strings.TrimRight(string(title[:most]), " ")
		case unicode.IsSpace(r) || unicode.IsControl(r):
			space = len(title) > 0
		case space:
			title = append(title, ' ', r)
			space = false
		default:
			title = append(title, r)
		}
	}
	return strings.TrimRight(string(title[:min(len(title), most)]), " ")
}
