package failure

import (
	"slices"
	"strings"
)

// rule is one line of a table that maps evidence to a kind; the first line that matches decides. A
// line matches if all of its fields that are set do; codes and like count as one. Words and codes
// are in lower case, and codes are also flat.
type rule struct {
	kind    Kind
	variant string
	once    retryability
	codes   []string // the body has one of these codes
	like    []string // or a code with the parts of one of these, in order; a star separates the parts
	status  []int    // one of these; 0 = there is none
	any     []string // one of these is claimed
	near    []string // and one of these at most nearBytes after it
	all     []string // all of these are claimed
	unless  []string // none of these is said, or is a code
	wire    bool     // the words are the transport's, not a provider's: on an open stream they mean that it broke
}

// retryability is set where a rule differs from its kind in whether to retry.
type retryability uint8

const (
	asKind retryability = iota
	never
	always
)

// match is what made a rule match: a code, or a phrase.
type match struct {
	code   *providerCode
	phrase string
}

// matches reports whether every field of r that is set matches, and what matched.
func (r *rule) matches(c *reading) (m match, ok bool) {
	m.code = &noCode
	if len(r.status) > 0 && !slices.Contains(r.status, c.status) {
		return m, false
	}
	if len(r.codes)+len(r.like) > 0 {
		if m.code, ok = c.codeOf(r.codes); !ok {
			if m.code, ok = c.codeLike(r.like); !ok {
				return m, false
			}
		}
	}
	if len(r.any) > 0 {
		if m.phrase, ok = c.claimsNear(r.any, r.near); !ok {
			return m, false
		}
	}
	for _, words := range r.all {
		if !c.claims(words) {
			return m, false
		}
		m.phrase = joinPhrases(words, m.phrase)
	}
	if _, said := c.saysAny(r.unless); said {
		return m, false
	}
	_, coded := c.codeOf(r.unless)
	return m, !coded
}

func joinPhrases(a, b string) string {
	if b == "" {
		return a
	}
	return a + " … " + b
}

// trigrams is a set of the three-byte pieces of a text, by their hash. It shows without a search
// that most phrases do not occur.
type trigrams [1 << (trigramBits - 6)]uint64

// trigramBits is how many bits of a hash are kept. A long message sets some thousand of 16,384
// bits, and all pieces of a phrase would have to be among them by chance.
const trigramBits = 14

// addAll puts the pieces of text into the set.
func (set *trigrams) addAll(text string) {
	i := 0
	for ; i+8 <= len(text); i += 6 { // the six pieces of eight bytes
		for eight, n := eightBytes(text[i:]), 0; n < 6; n++ {
			h := hashed(uint32(eight) & 0xFFFFFF)
			set[h>>6] |= 1 << (h & 63)
			eight >>= 8
		}
	}
	for ; i+3 <= len(text); i++ {
		h := trigram(text[i:])
		set[h>>6] |= 1 << (h & 63)
	}
}

// eightBytes is the first eight bytes of text as one number, the first one lowest.
func eightBytes(text string) uint64 {
	_ = text[7]
	return uint64(text[0]) | uint64(text[1])<<8 | uint64(text[2])<<16 | uint64(text[3])<<24 |
		uint64(text[4])<<32 | uint64(text[5])<<40 | uint64(text[6])<<48 | uint64(text[7])<<56
}

// trigram hashes the first three bytes of text.
func trigram(text string) uint32 {
	return hashed(uint32(text[0]) | uint32(text[1])<<8 | uint32(text[2])<<16)
}

func hashed(three uint32) uint32 { return three * 2654435761 >> (32 - trigramBits) }

// lacks reports whether phrase cannot occur in the text, by its pieces.
func (set *trigrams) lacks(phrase string) bool {
	for i := 0; i+3 <= len(phrase); i++ {
		if h := trigram(phrase[i:]); set[h>>6]&(1<<(h&63)) == 0 {
			return true
		}
	}
	return false
}

// letterPairs is a set of the pairs of letters of a code, without regard to what they have above
// their five lowest bits. It shows without a search that most patterns are not like it.
type letterPairs [1 << 4]uint64

func (set *letterPairs) addAll(code string) {
	for i := 1; i < len(code); i++ {
		h := pair(code[i-1], code[i])
		set[h>>6] |= 1 << (h & 63)
	}
}

// mayHave reports whether a code may have the first two letters of pattern.
func (set *letterPairs) mayHave(pattern string) bool {
	h := pair(pattern[0], pattern[1])
	return set[h>>6]&(1<<(h&63)) != 0
}

func pair(a, b byte) uint32 { return uint32(a&31)<<5 | uint32(b&31) }

// says reports whether phrase, in lower case, was said.
func (c *reading) says(phrase string) bool {
	return !c.grams.lacks(phrase) && strings.Contains(c.text, phrase)
}

// claims reports whether phrase, in lower case, was said of what happened: "this is not a rate limit"
// names one, and claims none.
func (c *reading) claims(phrase string) bool {
	return !c.grams.lacks(phrase) && claimedAt(c.text, phrase, 0) >= 0
}

// claimedAt is the first index of phrase in text, from this one on, where no denial stands before
// it; negative where there is none.
func claimedAt(text, phrase string, from int) int {
	for {
		i := strings.Index(text[from:], phrase)
		if i < 0 {
			return i
		}
		if i += from; !slices.ContainsFunc(denials, func(denial string) bool { return strings.HasSuffix(text[:i], denial) }) {
			return i
		}
		from = i + len(phrase)
	}
}

// denials stand before what is not the case.
var denials = []string{", not ", "(not ", " is not ", " isn't ", " not a ", " not an ", " not due to ", "(not your ", " not your ", " not because of "}

// saysAny gives the first of the phrases that was said.
func (c *reading) saysAny(phrases []string) (string, bool) {
	for _, p := range phrases {
		if c.says(p) {
			return p, true
		}
	}
	return "", false
}

// nearBytes is how many bytes may stand between two phrases that belong together.
const nearBytes = 48

// claimsNear gives the first of the phrases that is claimed and followed by one of near; the first
// that is claimed where near is empty.
func (c *reading) claimsNear(phrases, near []string) (string, bool) {
	if _, said := c.saysAny(near); !said && len(near) > 0 {
		return "", false
	}
	for _, p := range phrases {
		for from := 0; !c.grams.lacks(p); {
			i := claimedAt(c.text, p, from)
			if i < 0 {
				break
			}
			from = i + len(p)
			if len(near) == 0 {
				return p, true
			}
			if n, ok := c.firstIn(c.text[from:min(len(c.text), from+nearBytes)], near); ok {
				return joinPhrases(p, n), true
			}
		}
	}
	return "", false
}

// firstIn gives the first of the phrases that occurs in a piece of the text.
func (c *reading) firstIn(piece string, phrases []string) (string, bool) {
	for _, p := range phrases {
		if !c.grams.lacks(p) && strings.Contains(piece, p) {
			return p, true
		}
	}
	return "", false
}
