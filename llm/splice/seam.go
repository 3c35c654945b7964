package splice

import (
	"errors"
	"strings"
	"unicode"
)

// ErrRestarted says that the model answers anew instead of going on, and says something
// else: nothing of that belongs behind what was said.
var ErrRestarted = errors.New("the model began its answer anew instead of going on with it")

// alike is how many bytes of the beginning of a new text make it the first one told anew,
// where they are those of the first text's beginning. Half of a shorter text is enough.
const (
	alike      = 32
	alikeLeast = 4
)

// mostLead is how much white space may stand before a repetition, in bytes.
const mostLead = 1 << 10

// seam finds where the rest of a text begins in what a model says then. What is held back may
// still turn out to repeat what was said, so it is a part of that: nothing is kept of it but
// how long it is.
type seam struct {
	echoes []*echo // what a model may say once more before it goes on, the whole text first
	lead   string  // white space before anything else
	n      int     // bytes held back after that, which are the first of like
	like   string
	done   int // length of the longest repetition that is complete; 0 for none
	same   int // how many bytes are the first of the whole text, too

	space string // white space at the end of the text that a model may write once more
	open  bool   // the rest has begun
}

// echo is a text that the model may be repeating.
type echo struct {
	text  string
	alive bool
}

func newSeam(text string, form Form) *seam {
	words := strings.TrimRightFunc(text, unicode.IsSpace)
	s := &seam{space: text[len(words):]}
	if words == "" {
		return s
	}
	s.echoes = []*echo{{trimLeft(words), true}}
	if end := trimLeft(strings.TrimRightFunc(tail(text), unicode.IsSpace)); form == Quote && end != "" {
		s.echoes = append(s.echoes, &echo{end, true})
	}
	return s
}

// add takes more text, and gives what is certain to be of the rest.
func (s *seam) add(text string) (string, error) {
	if len(s.echoes) == 0 {
		return s.rest(text), nil
	}
	if s.n == 0 {
		words := trimLeft(text)
		s.lead += text[:len(text)-len(words)]
		text = words
	}
	if text == "" && len(s.lead) <= mostLead {
		return "", nil
	}
	if s.pending(text) {
		s.n += len(text)
		return "", nil
	}
	return s.settle(text)
}

// pending compares text with what may be repeated, and reports whether any of that still may.
func (s *seam) pending(text string) bool {
	pending := false
	for i, e := range s.echoes {
		if !e.alive {
			continue
		}
		same := common(text, e.text[s.n:])
		if i == 0 {
			s.same = s.n + same
		}
		e.alive = text != "" && same == len(text) && s.n+same < len(e.text)
		switch {
		case e.alive:
			pending, s.like = true, e.text
		case s.n+same == len(e.text):
			s.done = max(s.done, len(e.text))
		}
	}
	return pending
}

// settle decides what became of what was held back, now that text follows it.
func (s *seam) settle(text string) (string, error) {
	if s.done == 0 && s.restarted() {
		return "", ErrRestarted
	}
	s.echoes = nil
	switch {
	case s.done > s.n:
		text = text[s.done-s.n:]
	case s.done > 0:
		text = s.like[s.done:s.n] + text
	default:
		text = s.lead + s.like[:s.n] + text
	}
	return s.rest(text), nil
}

// end gives what is still held back, since no more text comes.
func (s *seam) end() (string, error) {
	if len(s.echoes) == 0 {
		return "", nil
	}
	return s.settle("")
}

// restarted reports whether the new text begins as the whole one does, and is another.
func (s *seam) restarted() bool {
	return s.same >= alike || s.same >= alikeLeast && 2*s.same >= len(s.echoes[0].text)
}

// rest gives text without the white space that is there already.
func (s *seam) rest(text string) string {
	if s.open || text == "" {
		return text
	}
	n := common(text, s.space)
	s.space = s.space[n:]
	s.open = n < len(text) || s.space == ""
	return text[n:]
}

// common is how many bytes a and b begin with alike.
func common(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

func trimLeft(text string) string { return strings.TrimLeftFunc(text, unicode.IsSpace) }
