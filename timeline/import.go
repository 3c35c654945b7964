package timeline

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mulligan-run/mulligan/recovery"
)

// Import is a whole run to be added to a store.
type Import struct {
	Run    string
	Events []recovery.Event // as Read gives them, from the first one
	Epoch  uint64           // of the newest claim among them, at least 1
	Inbox  uint64           // the last command that one of the events answers
}

// NewImport checks that events are one whole run: they begin with its first event, have no gap, and
// each may follow the one before it.
func NewImport(events []recovery.Event) (Import, error) {
	if len(events) == 0 || !fitsRunID(events[0].Run) {
		return Import{}, fmt.Errorf("import of a run without events, or without an id of at most %d bytes that can be printed", maxRunID)
	}
	i := Import{Run: events[0].Run, Events: events, Epoch: 1}
	if err := checkAppend(Lease{Run: i.Run}, 0, events); err != nil {
		return Import{}, fmt.Errorf("import: %w", err)
	}
	if _, err := recovery.Fold(events); err != nil {
		return Import{}, fmt.Errorf("import: %w", err)
	}
	if s, ok := events[0].Body.(recovery.Started); ok && s.Session != "" {
		if err := CheckSessionID(s.Session); err != nil {
			return Import{}, fmt.Errorf("import: %w", err)
		}
	}
	for _, e := range events {
		i.Inbox = max(i.Inbox, e.Inbox)
		if claimed, ok := e.Body.(recovery.Claimed); ok {
			i.Epoch = max(i.Epoch, claimed.Epoch)
		}
	}
	if i.Inbox > maxCount || i.Epoch > maxCount {
		return Import{}, fmt.Errorf("import: run %s has had %d owners and %d commands, which is not possible", i.Run, i.Epoch, i.Inbox)
	}
	return i, nil
}

// maxCount is more owners or commands than any run has.
const maxCount = 1 << 40

// maxRunID is the longest id of a run that can be imported, in bytes.
const maxRunID = 128

func fitsRunID(id string) bool {
	return id != "" && len(id) <= maxRunID && utf8.ValidString(id) &&
		!strings.ContainsFunc(id, func(r rune) bool { return !unicode.IsPrint(r) })
}

// differsError names a run that cannot be imported because a different run with its id exists. It
// is an ErrConflict.
type differsError struct{ Run string }

func (e *differsError) Error() string {
	return fmt.Sprintf("run %s is here already, and is not the one to be imported: delete it first, or import into another folder", e.Run)
}

// Is makes it an ErrConflict.
func (e *differsError) Is(target error) bool { return target == ErrConflict }
