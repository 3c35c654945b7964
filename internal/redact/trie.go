package redact

import (
	"cmp"
	"slices"
	"strings"
)

// minOpen is how many bytes of a secret are enough to hold text back.
const minOpen = 3

// maxDepth is how many levels of escapes are read.
const maxDepth = 4

// trie finds the forms of all secrets at once.
type trie struct {
	values  []string
	first   [256]int32 // of a form's first byte → node, 0 = none
	second  [256]set   // of a form's first byte → the bytes that come after it
	used    set        // the bytes of all forms
	nodes   []node
	longest int
	skips   *skips
}

type node struct {
	ends bool // a form ends here
	next []edge
}

type edge struct {
	on byte
	to int32
}

// set is a set of bytes.
type set [4]uint64

func (s *set) add(b byte)      { s[b>>6] |= 1 << (b & 63) }
func (s *set) has(b byte) bool { return s[b>>6]&(1<<(b&63)) != 0 }

// span is a part of a text.
type span struct{ from, to int }

// newTrie makes a trie of values, of which there is one at least.
func newTrie(values []string) *trie {
	t := &trie{values: slices.Clone(values), nodes: make([]node, 1)}
	var all []string
	for _, value := range values {
		all = append(all, forms(value)...)
	}
	for _, form := range all {
		t.add(form)
	}
	t.skips = newSkips(all)
	return t
}

func (t *trie) add(form string) {
	t.longest = max(t.longest, len(form))
	for i := range len(form) {
		t.used.add(form[i])
	}
	t.second[form[0]].add(form[1])
	at := t.first[form[0]]
	if at == 0 {
		at = t.grow()
		t.first[form[0]] = at
	}
	for i := 1; i < len(form); i++ {
		to := t.step(at, form[i])
		if to == 0 {
			to = t.grow()
			t.nodes[at].next = append(t.nodes[at].next, edge{form[i], to})
		}
		at = to
	}
	t.nodes[at].ends = true
}

func (t *trie) grow() int32 {
	t.nodes = append(t.nodes, node{})
	return int32(len(t.nodes) - 1)
}

func (t *trie) step(at int32, on byte) int32 {
	for _, e := range t.nodes[at].next {
		if e.on == on {
			return e.to
		}
	}
	return 0
}

// find lists the secrets in text, in order and without overlaps. open is where something begins
// that may become one when text goes on, and wait where the text to hold back begins; both are
// len(text) if there is none.
func (t *trie) find(text string) (found []span, open, wait int) {
	found, open, wait = t.search(view{text: text, cut: len(text)}, nil, len(text), len(text))
	if from := t.hidesFrom(text); from < len(text) {
		behind, mayOpen, mayWait := t.behindEscapes(text[from:])
		for _, s := range behind {
			found = append(found, span{from + s.from, from + s.to})
		}
		open, wait = min(open, from+mayOpen), min(wait, from+mayWait)
	}
	return joined(found), open, wait
}

// behindEscapes is find for what text stands for.
func (t *trie) behindEscapes(text string) (found []span, open, wait int) {
	open, wait = len(text), len(text)
	v := view{text: text, cut: len(text)}
	for range maxDepth {
		next := v.unescape()
		if next.cut < len(next.text) {
			wait = min(wait, next.start(next.cut))
			open = min(open, wait)
		} else if len(next.text) == len(v.text) {
			break
		}
		v = next
		found, open, wait = t.search(v, found, open, wait)
	}
	return found, open, wait
}

// hidesFrom is where the part of text begins that may hide something behind escapes: an escape, or
// one in what it stands for, is a byte of a secret or may go on beyond the end. Most escapes are
// quotes and line ends, which secrets do not have.
func (t *trie) hidesFrom(text string) int {
	said := text
	for depth := range maxDepth {
		hides, nested, from := t.hides(said)
		switch {
		case hides, from < len(said) && (nested || depth > 0):
			return 0
		case from < len(said):
			return from
		case !nested:
			return len(text)
		}
		said = unescaped(said)
	}
	return len(text)
}

// hides reports whether an escape in text itself is a byte of a secret. nested says that what they
// stand for may be a part of other escapes. If one may go on beyond the end, from is where a secret
// may begin that goes on with it, perhaps through escapes that it completes, and otherwise the end.
func (t *trie) hides(text string) (hides, nested bool, from int) {
	in, after := escapesIn(text), 0
	for i := in.from(0); i < len(text); {
		plain, size, cut := read(text[i:])
		if cut {
			return false, nested, max(after, i-t.longest-maxDepth*maxEscape)
		}
		for j := 0; size > 1 && j < len(plain); j++ {
			if t.used.has(plain[j]) {
				return true, nested, 0
			}
			nested = nested || isAlnum(plain[j]) || strings.IndexByte(escapes+"#;", plain[j]) >= 0
		}
		if size > 1 {
			after = i + size
		}
		i = in.from(i + size)
	}
	return false, nested, len(text)
}

// search adds what is found in v. Where there is nothing, only what may go on beyond the end is left
// to be found.
func (t *trie) search(v view, found []span, open, wait int) (list []span, from, holdFrom int) {
	start := 0
	if t.lacks(v.text) {
		start = max(0, v.cut-t.longest)
	}
	return t.searchFrom(start, v, found, open, wait)
}

func (t *trie) searchFrom(start int, v view, found []span, open, wait int) (list []span, from, holdFrom int) {
	for i := start; i < len(v.text); i++ {
		if t.first[v.text[i]] == 0 || i+1 < v.cut && !t.second[v.text[i]].has(v.text[i+1]) {
			continue
		}
		end, goesOn := t.match(v.text[i:], v.cut-i)
		if goesOn {
			open = min(open, v.start(i))
		}
		if goesOn && v.cut-i >= minOpen {
			wait = min(wait, v.start(i))
		}
		if end > 0 {
			found = append(found, span{v.start(i), v.end(i + end - 1)})
			i += end - 1
		}
	}
	return found, open, wait
}

// match is the length of the longest form that text begins with, 0 if there is none. goesOn says
// whether a form continues beyond the end of text, or beyond cut.
func (t *trie) match(text string, cut int) (length int, goesOn bool) {
	at := t.first[text[0]]
	for i := 1; ; i++ {
		if t.nodes[at].ends {
			length = i
		}
		if i == cut || i == len(text) {
			goesOn = goesOn || len(t.nodes[at].next) > 0
		}
		if i == len(text) {
			return length, goesOn
		}
		if at = t.step(at, text[i]); at == 0 {
			return length, goesOn
		}
	}
}

// joined puts spans in order and makes one of those that touch.
func joined(spans []span) []span {
	if len(spans) < 2 {
		return spans
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	out := spans[:1]
	for _, s := range spans[1:] {
		if last := &out[len(out)-1]; s.from <= last.to {
			last.to = max(last.to, s.to)
		} else {
			out = append(out, s)
		}
	}
	return out
}

// hide puts the Mark in the place of each span.
func hide(text string, spans []span) string {
	if len(spans) == 0 {
		return text
	}
	var b strings.Builder
	from := 0
	for _, s := range spans {
		b.WriteString(text[from:s.from])
		b.WriteString(Mark)
		from = s.to
	}
	b.WriteString(text[from:])
	return b.String()
}
