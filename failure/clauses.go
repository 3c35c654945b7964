package failure

import "strings"

// tagged is a word, or a phrase, that the lexicon knows.
type tagged struct {
	text string
	at   int // its position among the words of the message
	is   concept
}

// clause holds the known words of a clause, and all their meanings together.
type clause struct {
	words []tagged
	is    concept
}

func clauseOf(words []tagged) clause {
	c := clause{words: words}
	for _, w := range words {
		c.is |= w.is
	}
	return c
}

// clauses are the clauses of a message.
type clauses []clause

func (list clauses) concepts() concept {
	var all concept
	for _, c := range list {
		all |= c.is
	}
	return all
}

// Limits on how much of a message is read: the reason seldom comes later.
const (
	maxCause   = 1536
	maxClauses = 64
)

// clausesOf finds the words that the lexicon knows. Identifiers are split into their words:
// model_is_deactivated, ContentPolicyViolation.
func clausesOf(said string) clauses {
	list, words, first := make(clauses, 0, min(maxClauses, 2+len(said)/32)), make([]tagged, 0, 4+len(said)/16), 0
	l, t := lexer{text: said}, lexicon()
	for len(list) < maxClauses {
		word, ends, ok := l.next()
		if ok {
			words = l.tag(t, words, word)
		}
		if (ends || !ok) && len(words) > first {
			list, first = append(list, clauseOf(words[first:len(words):len(words)])), len(words)
		}
		if !ok {
			return list
		}
	}
	return list
}

// tag appends what the lexicon knows of a word, alone or with the one or two words before it.
func (l *lexer) tag(t *thesaurus, words []tagged, word string) []tagged {
	known, begins := t.words.of(word), t.stems.of(word)
	is := known.is | begins.is | t.ending(word)
	if is&isPrefix != 0 && strings.HasPrefix(l.rest(), ":") { // in "APICallError: …" the error is only part of a name
		is &^= isFailed
	}
	if is != 0 {
		words = append(words, tagged{word, l.count, is})
	}
	words = l.tagPhrases(words, known.phrases)
	words = l.tagPhrases(words, begins.phrases)
	if isUnparted(word) {
		words = l.tagUnparted(words, t, word)
	}
	l.count++
	l.before[l.count&1] = word
	return words
}

// tagPhrases appends the phrases that end with the word after the last one.
func (l *lexer) tagPhrases(words []tagged, phrases []phrase) []tagged {
	for i := range phrases {
		p := &phrases[i]
		if n := len(p.before); p.before[n-1].fits(l.last(0)) && (n == 1 || p.before[0].fits(l.last(1))) {
			words = append(words, tagged{p.text, l.count, p.is})
		}
	}
	return words
}

// tagUnparted appends what is known of a piece of text that is written without spaces.
func (l *lexer) tagUnparted(words []tagged, t *thesaurus, word string) []tagged {
	two := l.last(0) + " " + word
	for _, known := range t.unparted {
		if strings.Contains(two, known.text) && !strings.Contains(l.last(0), known.text) {
			words = append(words, tagged{known.text, l.count, known.is})
		}
	}
	return words
}
