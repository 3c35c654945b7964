package timeline

import (
	"errors"
	"fmt"

	"github.com/mulligan-run/mulligan/recovery"
)

// MaxSessionID is the most that a session's id holds, in bytes.
const MaxSessionID = 128

// Session is what the runs of a conversation start with; zero fields are nobody's choice.
// A conversation is there as soon as one of its runs is, whether it has defaults or not.
type Session struct {
	ID          string            `json:"-"`
	Model       string            `json:"model,omitempty"`
	AutoRecover *bool             `json:"autoRecover,omitempty"`
	Timeouts    recovery.Settings `json:"timeouts,omitempty"`
}

// SessionSummary is a conversation in one line of a list.
type SessionSummary struct {
	ID    string
	Title string  // of the first of its runs
	Runs  int     // that it has
	Last  Summary // the newest of them
}

// ErrSession means that the session's newest run has not ended, or is another one than that
// which a new run continues; see SessionError.
var ErrSession = errors.New("the session goes on elsewhere")

// SessionError says which run is in the way. It is an ErrSession.
type SessionError struct {
	Session, Run string
	Ended        bool // the run, which is the head of the session now
}

func (e *SessionError) Error() string {
	if e.Ended {
		return fmt.Sprintf("session %s has moved on to run %s: continue that one", e.Session, e.Run)
	}
	return fmt.Sprintf("session %s: its run %s has not ended: wait for it, or cancel it", e.Session, e.Run)
}

// Is makes it an ErrSession.
func (e *SessionError) Is(target error) bool { return target == ErrSession }

// CheckSessionID says what is wrong with the id of a session: it has 1 to MaxSessionID
// letters, digits and characters of "._:-".
func CheckSessionID(id string) error {
	if id == "" || len(id) > MaxSessionID {
		return fmt.Errorf("a session's id has 1 to %d characters, not %d", MaxSessionID, len(id))
	}
	if id == "." || id == ".." {
		return fmt.Errorf("a session's id is not %q: no address can end so", id)
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

// JoinsSession gives the Started event of a run that an Append begins in a session.
func JoinsSession(after uint64, events []recovery.Event) (recovery.Started, bool) {
	if after != 0 || len(events) == 0 {
		return recovery.Started{}, false
	}
	started, ok := events[0].Body.(recovery.Started)
	return started, ok && started.Session != ""
}

// CheckJoin says why a run may not begin in a session whose newest run is last: an older
// run that has not ended, or that it does not continue. newer says that last was claimed
// after the run that begins.
func CheckJoin(started recovery.Started, last Summary, newer bool) error {
	continued := started.Continues != nil && started.Continues.Run == last.Run
	if last.Ended && continued && !newer {
		return nil
	}
	return &SessionError{Session: started.Session, Run: last.Run, Ended: last.Ended}
}
