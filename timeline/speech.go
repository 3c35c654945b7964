package timeline

import (
	"context"
	"iter"
	"maps"
	"strings"
	"sync"
	"unicode/utf8"
)

// Speech is a piece of live text of a run's attempt, as the process that drives the run sends it to
// another process where the run is followed.
type Speech struct {
	Run     string
	Attempt uint64
	// Seq is that of the event that began the attempt, or of a later one: followers of the run get
	// that event before this piece.
	Seq    uint64
	Offset int // where Text begins, in bytes; thinking has offsets of its own
	Text   string
	// Begins marks the first piece that the other process gets of the attempt, with all of its text
	// until then, perhaps none. All of its reasoning until then follows.
	Begins   bool
	Thinking bool
}

// maxSpeech is the most bytes in the Text of a Speech.
const maxSpeech = 32 << 10

// Speaks yields the live text of a run's attempts in this process, beginning with what the one in
// the air has already said, until ctx ends or the Journal closes. A piece that is lost because the
// consumer is slow is part of the next one. It yields nothing for a run that another process
// drives.
func (j *Journal) Speaks(ctx context.Context, run string) iter.Seq[Speech] {
	return func(yield func(Speech) bool) {
		l := j.feed.listen(run, false)
		defer j.feed.leave(run, l)
		s := speaker{feed: j.feed, run: run, yield: yield}
		s.all()
		for !s.over && j.feed.wait(ctx, l) == nil {
			queue, _, behind := l.take()
			if behind {
				s.all()
				continue
			}
			for _, item := range queue {
				if d := item.Delta; d != nil && !s.over {
					s.add(d)
				}
			}
			s.say()
		}
	}
}

// speaker is the state of one Speaks.
type speaker struct {
	feed  *feed
	run   string
	yield func(Speech) bool
	over  bool

	attempt, seq uint64          // the attempt that the consumer has the beginning of
	held         Speech          // the text after that, not yielded yet
	text         strings.Builder // held's text
}

// all yields all that the attempt in the air has said.
func (s *speaker) all() {
	t, thought, ok := s.feed.tails.here(s.run)
	if s.drop(); !ok || s.over {
		return
	}
	s.attempt, s.seq = t.Attempt, t.Seq
	s.cut(Speech{Run: s.run, Attempt: t.Attempt, Seq: t.Seq, Offset: t.Offset, Text: t.Text, Begins: true})
	if thought != "" {
		s.cut(Speech{Run: s.run, Attempt: t.Attempt, Seq: t.Seq, Text: thought, Thinking: true})
	}
}

// add takes a piece that was published here. If it is of another attempt, that is looked up first:
// it may be new, or this process may not drive it.
func (s *speaker) add(d *Delta) {
	if d.Attempt != s.attempt {
		if t, _, ok := s.feed.tails.here(s.run); ok && t.Attempt == d.Attempt {
			s.all()
		}
		return
	}
	next := s.held.Offset + s.text.Len()
	if s.held.Attempt != d.Attempt || s.held.Thinking != d.Thinking || next != d.Offset || s.text.Len() > maxSpeech {
		s.say()
		s.held = Speech{Run: s.run, Attempt: d.Attempt, Seq: s.seq, Offset: d.Offset, Thinking: d.Thinking}
	}
	s.text.WriteString(d.Text)
}

// say yields held.
func (s *speaker) say() {
	held := s.held
	held.Text = s.text.String()
	if s.drop(); held.Attempt != 0 {
		s.cut(held)
	}
}

func (s *speaker) drop() {
	s.held = Speech{}
	s.text.Reset()
}

// cut yields a piece as several of at most maxSpeech bytes, each of whole characters.
func (s *speaker) cut(p Speech) {
	for rest := p.Text; !s.over; p.Begins = false {
		n := min(len(rest), maxSpeech)
		for n < len(rest) && n > maxSpeech-utf8.UTFMax && !utf8.RuneStart(rest[n]) {
			n--
		}
		p.Text, rest = rest[:n], rest[n:]
		s.over = !s.yield(p)
		if p.Offset += n; rest == "" {
			return
		}
	}
}

// Hear shows the run's followers in this process a live piece from the member that drives the run.
// Without it they get only what that member saves from time to time. A piece from a member that
// does not drive the run, as far as is known, is dropped. again is true if a piece before this one
// is missing, so that the member has to begin again.
func (j *Journal) Hear(member string, s Speech) (again bool) {
	if j.elsewhere.drives(s.Run) != member || s.Attempt == 0 {
		return false
	}
	return j.feed.hear(s)
}

// Unheard says that live pieces of runs that Hear was called for no longer come.
func (j *Journal) Unheard(runs ...string) { j.feed.tails.quiet(runs) }

// Elsewhere gives the runs that are followed here and driven by another process, with the ID of the
// [Member] that drives each, as of the last look; changed is closed when that changes.
func (j *Journal) Elsewhere() (runs map[string]string, changed <-chan struct{}) {
	return j.elsewhere.get()
}

// elsewhere is where the runs that are followed here are driven.
type elsewhere struct {
	mu      sync.Mutex
	runs    map[string]string
	changed chan struct{}
}

func newElsewhere() *elsewhere {
	return &elsewhere{runs: map[string]string{}, changed: make(chan struct{})}
}

func (e *elsewhere) get() (map[string]string, <-chan struct{}) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return maps.Clone(e.runs), e.changed
}

func (e *elsewhere) drives(run string) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.runs[run]
}

// saw records who drives the runs that were looked at; all says that no others are followed.
func (e *elsewhere) saw(runs []string, moved []Moved, all bool) {
	now := make(map[string]string, len(moved))
	for _, m := range moved {
		if m.Member != "" {
			now[m.Run] = m.Member
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if !all {
		others := maps.Clone(e.runs)
		for _, run := range runs {
			delete(others, run)
		}
		maps.Copy(others, now)
		now = others
	}
	if maps.Equal(now, e.runs) {
		return
	}
	e.runs = now
	close(e.changed)
	e.changed = make(chan struct{})
}
