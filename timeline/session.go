package timeline

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mulligan-run/mulligan/recovery"
)

// MaxSessionID is the most that a session's id holds, in bytes.
const MaxSessionID = 128

// Session is what the runs of a conversation start with; zero fields were never set. A conversation
// exists as soon as one of its runs does, with or without these defaults.
type Session struct {
	ID          string            `json:"-"`
	Title       string            `json:"title,omitempty"` // what a person calls it; "" = the title of its first run
	Model       string            `json:"model,omitempty"`
	AutoRecover *bool             `json:"autoRecover,omitempty"`
	Timeouts    recovery.Settings `json:"timeouts,omitempty"`
}

// SessionSummary is a conversation as one line of a list.
type SessionSummary struct {
	ID    string
	Title string  // what a person calls it, or that of its first run
	Runs  int     // how many runs it has
	Last  Summary // of its newest run
	Kept  []byte  // the session's blob, from which a Log reads the person's title; nil = none
}

// CheckTitle says what is wrong with a title for a session, which must be one line of at most
// MaxTitle characters without control characters; it may be "".
func CheckTitle(title string) error {
	switch {
	case !utf8.ValidString(title):
		return errors.New("a title must be valid UTF-8")
	case utf8.RuneCountInString(title) > MaxTitle:
		return fmt.Errorf("a title has at most %d characters, not %d", MaxTitle, utf8.RuneCountInString(title))
	case strings.ContainsFunc(title, unicode.IsControl):
		return errors.New("a title must be one line without control characters")
	case title != "" && strings.TrimSpace(title) == "":
		return errors.New("a title must not be blank")
	}
	return nil
}

// ErrSession says that the session's newest run has not ended, or is not the one that a new run
// continues; see SessionError.
var ErrSession = errors.New("the session goes on elsewhere")

// SessionError says which run is in the way. It is an ErrSession.
type SessionError struct {
	Session, Run string
	Ended        bool // the run has ended, and is the session's head
}

func (e *SessionError) Error() string {
	if e.Ended {
		return fmt.Sprintf("session %s has moved on to run %s: continue that one", e.Session, e.Run)
	}
	return fmt.Sprintf("session %s: its run %s has not ended: wait for it, or cancel it", e.Session, e.Run)
}

// Is makes it an ErrSession.
func (e *SessionError) Is(target error) bool { return target == ErrSession }

// CheckSessionID says what is wrong with the id of a session, which must have 1 to MaxSessionID
// letters, digits and characters of "._:-".
func CheckSessionID(id string) error {
	if id == "" || len(id) > MaxSessionID {
		return fmt.Errorf("a session's id has 1 to %d characters, not %d", MaxSessionID, len(id))
	}
	if id == "." || id == ".." {
		return fmt.Errorf("a session's id must not be %q, which has a meaning of its own in an address", id)
	}
	for _, c := range []byte(id) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '.', c == '_', c == ':', c == '-':
		default:
			return fmt.Errorf("session id %q: only letters, digits and ._:- may be in it", id)
		}
	}
	return nil
}

// CheckJoin says why the run that a begins may not begin in its session. last is the session's
// newest run: it has not ended, or the new run does not continue it. newer says that last was
// claimed for the first time after the new run. last is nil if the session has no run; then any run
// may begin.
func (a *Append) CheckJoin(last *Summary, newer bool) error {
	if last == nil {
		return nil
	}
	started, _ := a.Events[0].Body.(recovery.Started)
	continued := started.Continues != nil && started.Continues.Run == last.Run
	if last.Ended && continued && !newer {
		return nil
	}
	return &SessionError{Session: started.Session, Run: last.Run, Ended: last.Ended}
}

// Joins is the session in which a begins a run; "" for none. A store then calls CheckJoin.
func (a *Append) Joins() string {
	if a.After != 0 || len(a.Events) == 0 {
		return ""
	}
	started, _ := a.Events[0].Body.(recovery.Started)
	return started.Session
}
