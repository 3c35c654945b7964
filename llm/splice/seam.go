package splice

import (
	"errors"
	"strings"
	"unicode"
)

// ErrRestarted says that the model began a different answer instead of continuing, so that none of
// it may follow the earlier text.
var ErrRestarted = errors.New("the model began its answer anew instead of going on with it")

// alike is how many bytes at the beginning of a new text must equal the beginning of the earlier
// one for the new text to count as a fresh start. Half of a shorter text is enough, but at least
// alikeLeast.
const (
	alike      = 32
	alikeLeast = 4
)

// mostLead is how much white space may precede a repetition, in bytes.
const mostLead = 1 << 10

// seam finds where the rest of a text begins in what a model then writes. Text is held back as long
// as it may still be a repetition of the earlier text. Since it is then a part of that text, only
// its length is kept.
type seam struct {
	echoes []*echo // what a model may repeat before it continues, the whole text first
	lead   string  // white space before everything else
	n      int     // bytes held back after lead: the first n of like
	like   string
	done   int // length of the longest complete repetition, 0 for none
	same   int // how many bytes equal the beginning of the whole text

	space string // white space at the end of the text, which a model may write again
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

// add takes more text, and returns what certainly belongs to the rest.
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

// pending compares text with every possible repetition, and reports whether any is still
// possible.
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

// settle decides what the held-back text was, when more text follows it.
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

// end returns the text that is still held back at the end.
func (s *seam) end() (string, error) {
	if len(s.echoes) == 0 {
		return "", nil
	}
	return s.settle("")
}

// restarted reports whether the new text begins like the whole earlier one, but continues
// differently.
func (s *seam) restarted() bool {
	return s.same >= alike || s.same >= alikeLeast && 2*s.same >= len(s.echoes[0].text)
}

// rest gives text without the white space that the earlier text ends with.
func (s *seam) rest(text string) string {
	if s.open || text == "" {
		return text
	}
	n := common(text, s.space)
	s.space = s.space[n:]
	s.open = n < len(text) || s.space == ""
	return text[n:]
}

// common is the length of the common beginning of a and b, in bytes.
func common(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

func trimLeft(text string) string { return strings.TrimLeftFunc(text, unicode.IsSpace) }
