package timeline

import (
	"strings"
	"sync"

	"github.com/mulligan-run/mulligan/recovery"
)

// Tail is the text so far of a run's attempt in the air. It is not an event: the attempt's own last
// event holds all its text.
type Tail struct {
	Attempt uint64 // 0 = none is in the air, or it has no text yet
	// Seq is the run's last event at that time, so that a reader of that event knows the attempt.
	// The store sets it.
	Seq uint64
	// Offset is where Text begins, in bytes: the text before it is that of the attempt which this
	// one continues.
	Offset int
	Text   string
}

// endsAttempt reports whether b is the last event of an attempt, and so holds its text.
func endsAttempt(b recovery.Body) bool {
	_, ends := endedBy(b)
	return ends
}

// endedBy is the attempt that b ends; 0 means whichever is in the air.
func endedBy(b recovery.Body) (attempt uint64, ends bool) {
	switch b := b.(type) {
	case recovery.Answered:
		return b.Attempt, true
	case recovery.Failed:
		return b.Attempt, true
	case recovery.CancelRequested:
		return b.Attempt, true
	case recovery.Ended:
		return 0, true
	}
	return 0, false
}

// tails hold the current text of runs: of those that this process drives, and of those of other
// processes that are followed here.
type tails struct {
	mu sync.RWMutex
	of map[string]*tail
}

// usualText is room for a short text, in bytes, so that it need not grow delta by delta.
const usualText = 512

type tail struct {
	attempt, seq uint64
	here         bool // this process drives the run
	live         bool // live pieces come from the process that does: what it has saved may be behind

	mu     sync.Mutex
	offset int // where text begins in the attempt's text
	text   strings.Builder
}

func (t *tails) find(run string) *tail {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.of[run]
}

// happened begins or ends a run's tail, because of an event that was appended here.
func (t *tails) happened(run string, e *recovery.Event) {
	began, begins := e.Body.(recovery.Began)
	if !begins && !endsAttempt(e.Body) {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.of, run)
	if begins {
		t.of[run] = &tail{attempt: began.Attempt, seq: e.Seq, here: true}
	}
}

// grow appends a live piece.
func (t *tails) grow(run string, d Delta) {
	said := t.find(run)
	if said == nil || !said.here || said.attempt != d.Attempt {
		return
	}
	said.mu.Lock()
	defer said.mu.Unlock()
	if said.text.Len() == 0 {
		said.offset = d.Offset
		said.text.Grow(usualText)
	}
	if d.Offset == said.offset+said.text.Len() {
		said.text.WriteString(d.Text)
	}
}

// here gives the tail of a run that this process drives; false if it does not drive the run, or
// nothing is in the air.
func (t *tails) here(run string) (Tail, bool) {
	said := t.find(run)
	if said == nil || !said.here {
		return Tail{}, false
	}
	said.mu.Lock()
	defer said.mu.Unlock()
	return Tail{Attempt: said.attempt, Seq: said.seq, Offset: said.offset, Text: said.text.String()}, true
}

// heard merges text that another process saved, and gives the part that is new.
func (t *tails) heard(run string, now Tail) (piece Delta, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	said := t.of[run]
	switch {
	case said != nil && (said.here || said.live && said.attempt > now.Attempt):
		return Delta{}, false
	case now.Attempt == 0:
		delete(t.of, run)
		return Delta{}, false
	case said == nil || said.attempt != now.Attempt:
		said = &tail{attempt: now.Attempt, seq: now.Seq, offset: now.Offset}
		t.of[run] = said
	}
	return said.goOn(run, now.Offset, now.Text)
}

// goOn appends text from an offset to an attempt of another process, and gives the part that is
// new. It is not ok if nothing is, or if something is missing before it.
func (said *tail) goOn(run string, offset int, text string) (piece Delta, ok bool) {
	end := said.offset + said.text.Len()
	if offset > end || offset+len(text) <= end || offset < said.offset {
		return Delta{}, false
	}
	fresh := text[end-offset:]
	said.text.WriteString(fresh)
	return Delta{Run: run, Attempt: said.attempt, Offset: end, Text: fresh}, true
}

// hears merges a live piece from the process that drives the run, and gives the part that is new.
// missing says that there is a gap before it.
func (t *tails) hears(s Speech) (piece Delta, ok, missing bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	said := t.of[s.Run]
	switch {
	case said != nil && said.here:
		return Delta{}, false, false
	case s.Begins && (said == nil || said.attempt != s.Attempt || said.offset != s.Offset):
		said = &tail{attempt: s.Attempt, seq: s.Seq, offset: s.Offset}
		t.of[s.Run] = said
	case said == nil || said.attempt != s.Attempt || s.Offset > said.offset+said.text.Len():
		return Delta{}, false, true
	}
	said.live, said.seq = true, s.Seq
	piece, ok = said.goOn(s.Run, s.Offset, s.Text)
	return piece, ok, false
}

// quiet marks runs from whose processes no live pieces come any more.
func (t *tails) quiet(runs []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, run := range runs {
		if said := t.of[run]; said != nil {
			said.live = false
		}
	}
}

// over drops an attempt of another process, because its last event was given to a follower here; 0
// for any attempt.
func (t *tails) over(run string, attempt uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if said := t.of[run]; said != nil && !said.here && (attempt == 0 || said.attempt <= attempt) {
		delete(t.of, run)
	}
}

// all gives what is known here of the text of another process's attempt, or what was saved if that
// is more.
func (t *tails) all(run string, saved Tail) Tail {
	t.mu.RLock()
	defer t.mu.RUnlock()
	said := t.of[run]
	if said == nil {
		return saved
	}
	said.mu.Lock()
	defer said.mu.Unlock()
	if said.attempt < saved.Attempt || said.attempt == saved.Attempt && said.offset+said.text.Len() <= saved.Offset+len(saved.Text) {
		return saved
	}
	return Tail{Attempt: said.attempt, Seq: said.seq, Offset: said.offset, Text: said.text.String()}
}

// lacks reports whether an attempt of another process has more text than is known here.
func (t *tails) lacks(run string, attempt uint64, bytes int) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	said := t.of[run]
	switch {
	case said == nil:
		return attempt > 0
	case said.here, said.live && said.attempt > attempt:
		return false
	}
	return said.attempt != attempt || said.text.Len() < bytes
}

// forget drops a run's tail that nobody here needs any more. With elsewhere, it keeps the tails of
// runs that this process drives.
func (t *tails) forget(run string, elsewhere bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if said := t.of[run]; said != nil && (!elsewhere || !said.here) {
		delete(t.of, run)
	}
}
