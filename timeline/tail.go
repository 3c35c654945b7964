package timeline

import (
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

// tails hold the current text and reasoning of runs: of those that this process drives, and of those
// of other processes that are followed here.
type tails struct {
	mu sync.RWMutex
	of map[string]*tail
}

type tail struct {
	attempt, seq uint64
	here         bool // this process drives the run
	live         bool // live pieces come from the process that does: what it has saved may be behind

	mu      sync.Mutex
	text    pieces
	thought pieces
}

// piecesOf is the attempt's text, or its reasoning.
func (t *tail) piecesOf(thinking bool) *pieces {
	if thinking {
		return &t.thought
	}
	return &t.text
}

// saved is the tail without its reasoning. The caller holds t.mu.
func (t *tail) saved() Tail {
	return Tail{Attempt: t.attempt, Seq: t.seq, Offset: t.text.offset, Text: t.text.text.String()}
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
	said.piecesOf(d.Thinking).grow(d.Offset, d.Text)
}

// here gives the tail and the reasoning so far of a run that this process drives; false if it does
// not drive the run, or nothing is in the air.
func (t *tails) here(run string) (now Tail, thought string, ok bool) {
	said := t.find(run)
	if said == nil || !said.here {
		return Tail{}, "", false
	}
	said.mu.Lock()
	defer said.mu.Unlock()
	return said.saved(), said.thought.text.String(), true
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
		said = &tail{attempt: now.Attempt, seq: now.Seq, text: pieces{offset: now.Offset}}
		t.of[run] = said
	}
	return said.goOn(Delta{Run: run, Attempt: now.Attempt, Offset: now.Offset, Text: now.Text})
}

// goOn appends a piece from another process, and gives the part that is new.
func (t *tail) goOn(d Delta) (piece Delta, ok bool) {
	d.Offset, d.Text = t.piecesOf(d.Thinking).goOn(d.Offset, d.Text)
	return d, d.Text != ""
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
	case s.Begins && (said == nil || said.attempt != s.Attempt || said.text.offset != s.Offset):
		said = &tail{attempt: s.Attempt, seq: s.Seq, text: pieces{offset: s.Offset}}
		t.of[s.Run] = said
	case said == nil || said.attempt != s.Attempt || s.Offset > said.piecesOf(s.Thinking).end():
		return Delta{}, false, true
	}
	said.live, said.seq = true, s.Seq
	piece, ok = said.goOn(Delta{Run: s.Run, Attempt: s.Attempt, Offset: s.Offset, Text: s.Text, Thinking: s.Thinking})
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
// is more; and what is known here of the same attempt's reasoning.
func (t *tails) all(run string, saved Tail) (now Tail, thought string) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	said := t.of[run]
	if said == nil || said.attempt < saved.Attempt {
		return saved, ""
	}
	said.mu.Lock()
	defer said.mu.Unlock()
	thought = said.thought.text.String()
	if said.attempt == saved.Attempt && said.text.end() <= saved.Offset+len(saved.Text) {
		return saved, thought
	}
	return said.saved(), thought
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
	return said.attempt != attempt || said.text.text.Len() < bytes
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
