package timeline

import (
	"strings"
	"sync"

	"github.com/mulligan-run/mulligan/recovery"
)

// Tail is what a run's attempt in the air has said so far. It is no event: the attempt's own
// last event has all of its text.
type Tail struct {
	Attempt uint64 // 0 = none is in the air, or it has said nothing yet
	// Seq is the run's last event when that was said: who has it knows of the attempt. The
	// store sets it.
	Seq uint64
	// Offset is where Text begins, in bytes: before that is what the attempt goes on from, which
	// another one had said.
	Offset int
	Text   string
}

// endsAttempt reports whether b is the last event of an attempt that is in the air: what that
// has said is there.
func endsAttempt(b recovery.Body) bool {
	_, ends := endedBy(b)
	return ends
}

// endedBy is the attempt whose last event b is; 0 for whichever is in the air.
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

// tails are what runs say now: those that this process drives, and those of others that
// somebody follows here.
type tails struct {
	mu sync.RWMutex
	of map[string]*tail
}

type tail struct {
	attempt, seq uint64
	here         bool // this process drives the run
	live         bool // the one that does is heard: what it has saved may be behind

	mu     sync.Mutex
	offset int // where text begins
	text   strings.Builder
}

func (t *tails) find(run string) *tail {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.of[run]
}

// happened begins or ends what a run says, by an event that was appended here.
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

// grow adds a live piece.
func (t *tails) grow(run string, d Delta) {
	said := t.find(run)
	if said == nil || !said.here || said.attempt != d.Attempt {
		return
	}
	said.mu.Lock()
	defer said.mu.Unlock()
	if said.text.Len() == 0 {
		said.offset = d.Offset
	}
	if d.Offset == said.offset+said.text.Len() {
		said.text.WriteString(d.Text)
	}
}

// here gives what a run that this process drives says; false where it drives none, or
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

// heard takes what another process saved of what a run says, and gives what is new of it.
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

// goOn takes what an attempt of another process has said from an offset on, and gives what is new of
// it; not ok where that is nothing, or something is missing before it.
func (said *tail) goOn(run string, offset int, text string) (piece Delta, ok bool) {
	end := said.offset + said.text.Len()
	if offset > end || offset+len(text) <= end || offset < said.offset {
		return Delta{}, false
	}
	fresh := text[end-offset:]
	said.text.WriteString(fresh)
	return Delta{Run: run, Attempt: said.attempt, Offset: end, Text: fresh}, true
}

// hears takes what the process that drives the run says, and gives what is new of it. missing says
// that there is a gap before it.
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

// quiet is for runs whose processes are not heard any more.
func (t *tails) quiet(runs []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, run := range runs {
		if said := t.of[run]; said != nil {
			said.live = false
		}
	}
}

// over is for an attempt of another process whose last event was given to somebody here; 0 for any.
func (t *tails) over(run string, attempt uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if said := t.of[run]; said != nil && !said.here && (attempt == 0 || said.attempt <= attempt) {
		delete(t.of, run)
	}
}

// all gives what is known here of what an attempt of another process has said, or what was saved of
// it where that is more.
func (t *tails) all(run string, saved Tail) Tail {
	t.mu.RLock()
	defer t.mu.RUnlock()
	said := t.of[run]
	if said == nil || said.attempt < saved.Attempt || said.attempt == saved.Attempt && said.offset+said.text.Len() <= saved.Offset+len(saved.Text) {
		return saved
	}
	said.mu.Lock()
	defer said.mu.Unlock()
	return Tail{Attempt: said.attempt, Seq: said.seq, Offset: said.offset, Text: said.text.String()}
}

// lacks reports whether more is said of an attempt of another process than is known here.
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

// forget is for when nobody says anything of the run here any more; elsewhere keeps what this
// process itself says.
func (t *tails) forget(run string, elsewhere bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if said := t.of[run]; said != nil && (!elsewhere || !said.here) {
		delete(t.of, run)
	}
}
