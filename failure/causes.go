package failure

import (
	"strings"

	"github.com/mulligan-run/mulligan/failure/words"
)

// cause is one way in which a clause says why a call failed: it speaks of something, and at
// most nearWords words away it says what is wrong with that. Sentences are as many as their
// writers; what they speak of and what they say of it are few, in every language.
type cause struct {
	kind    Kind
	variant string
	about   concept // one of these
	says    concept // and one of these near it; none = what it is about says enough
	unless  concept // and none of these in the same clause
	brief   bool    // the message speaks of minutes or seconds
	passing Kind    // what it is where the message promises that it passes; "" = the same
	wire    bool    // on an open stream it was the stream that broke
}

// nearWords is how far apart words may stand that are said of one another.
const nearWords = 7

// causes is read from the top; the first that a clause says decides. The first few, the
// refusals, may also be said of a request whose status says only that it was refused.
var causes = []cause{
	{kind: KindContentFilter, about: ofContent, says: isViolated | isDenied, unless: ofInput},
	{kind: KindContextOverflow, about: ofContext, says: isLong | isExceeded, unless: perMinute | ofMoney | ofRate | ofOutput | ofImage | ofInput},
	{kind: KindBilling, about: ofMoney, says: isLacking | isExceeded | isAsked, unless: ofInput},
	{kind: KindRateLimit, about: ofQuota, says: isExceeded | isLacking | isGone | isFailed, unless: ofMoney | perDay | ofInput, brief: true},
	{kind: KindQuota, about: ofQuota, says: isExceeded | isLacking | isGone | isFailed, unless: ofInput},
	{kind: KindQuota, about: perDay, says: aLimit, unless: ofInput | ofContext | ofMoney},
	{kind: KindRateLimit, about: ofRate, says: isExceeded, unless: ofInput},
	{kind: KindRateLimit, about: perMinute, says: aLimit, unless: ofInput | ofContext | ofMoney},

	{kind: KindBilling, about: ofMoney, says: isGone | isDenied | isBad, unless: ofInput},
	{kind: KindOverloaded, about: isBusy},
	{kind: KindOverloaded, about: ofCapacity, says: isLacking | isExceeded | isFailed | aLimit, unless: ofContext},
	{kind: KindAuth, variant: "permission", about: ofPermission, says: isLacking | isDenied | isBad, unless: ofMachine},
	{kind: KindAuth, about: ofLogin, says: isLacking | isDenied | isBad | isGone | isAsked},
	{kind: KindTimeout, about: isLate},
	{kind: KindMalformedResponse, about: ofStop, says: isMalformed},
	{kind: KindStreamInterrupted, about: ofStop, says: isBroken | ofNetwork},
	{kind: KindUnavailable, about: ofStop, says: isFailed},
	{kind: KindEmptyResponse, about: ofOutput, says: isLacking},
	{kind: KindStreamInterrupted, about: ofStream, says: isBroken | isFailed | ofNetwork},
	{kind: KindMalformedResponse, about: ofData, says: isMalformed | isWrong | isFailed, unless: ofInput},
	{kind: KindModelNotFound, about: ofModel, says: isGone | isWrong, unless: ofAbility | isBroken, passing: KindUnavailable},
	{kind: KindUnreachable, about: ofNetwork, says: isBroken | isBad | isGone, wire: true},
	{kind: KindInvalidRequest, about: ofImage, says: isBad | isLong, unless: ofMachine},
	{kind: KindUnavailable, about: ofServer | ofModel, says: isFailed | isBroken | isGone},
	{kind: KindInvalidRequest, about: ofInput, says: isBad | isGone},
}

const refusals = 8

// byRefusal reads why a request was refused with a status that says no more than that.
func (c *reading) byRefusal() (verdict, bool) {
	switch c.status {
	case 400, 403, 409, 422, 424:
		return c.byCauses(causes[:refusals])
	}
	return verdict{}, false
}

// byCause reads what nothing else is known of.
func (c *reading) byCause() (verdict, bool) { return c.byCauses(causes) }

func (c *reading) byCauses(table []cause) (verdict, bool) {
	said := c.said
	if said == "" && c.e.Err != nil {
		said = words.WithoutStack(words.Clip(c.e.Err.Error(), maxCause))
	}
	clauses := clausesOf(words.Clip(said, maxCause))
	all := clauses.concepts()
	for i := range table {
		for _, words := range clauses {
			v, ok := table[i].of(words, all)
			if !ok {
				continue
			}
			v.by = c.words(v.by.Value)
			if table[i].wire && c.streaming() {
				v.kind = KindStreamInterrupted
			}
			return v, true
		}
	}
	return verdict{}, false
}

// of reports whether the words of a clause say so; all are the concepts of the message.
func (k *cause) of(words []tagged, all concept) (verdict, bool) {
	if k.brief && all&perMinute == 0 || (clauses{words}).concepts()&k.unless != 0 {
		return verdict{}, false
	}
	about, says := -1, -1
	for i, w := range words {
		switch {
		case w.is&k.about != 0:
			about = i
		case w.is&k.says != 0:
			says = i
		}
		if about >= 0 && (k.says == 0 || says >= 0 && apart(words[about], words[says]) <= nearWords) {
			v := verdict{kind: k.kind, variant: k.variant, by: Clue{Value: k.phrase(words, about, says)}}
			if k.passing != "" && all&isPassing != 0 {
				v.kind, v.variant = k.passing, ""
			}
			return v, true
		}
	}
	return verdict{}, false
}

func apart(a, b tagged) int { return max(a.at-b.at, b.at-a.at) }

func (k *cause) phrase(words []tagged, about, says int) string {
	switch {
	case says < 0:
		return words[about].text
	case says < about:
		about, says = says, about
	}
	return joinPhrases(words[about].text, words[says].text)
}

// tagged is a word, or a few, that the lexicon knows.
type tagged struct {
	text string
	at   int // its place among the words of the message
	is   concept
}

// clauses are the known words of a message, clause by clause.
type clauses [][]tagged

func (c clauses) concepts() concept {
	var all concept
	for _, words := range c {
		for _, w := range words {
			all |= w.is
		}
	}
	return all
}

// Of a message so many bytes are read, and so many clauses: what follows is seldom a reason.
const (
	maxCause   = 2 << 10
	maxClauses = 64
)

// clausesOf finds the words that the lexicon knows. Names of codes come apart into their words:
// model_is_deactivated, ContentPolicyViolation.
func clausesOf(said string) clauses {
	list, words, first := clauses{}, []tagged(nil), 0
	l := lexer{text: said}
	for len(list) < maxClauses {
		word, ends, ok := l.next()
		if ok {
			words = l.tag(words, word)
		}
		if (ends || !ok) && len(words) > first {
			list, first = append(list, words[first:len(words):len(words)]), len(words)
		}
		if !ok {
			return list
		}
	}
	return list
}

// tag adds what the lexicon knows of a word, by itself or with the one or two before it.
func (l *lexer) tag(words []tagged, word string) []tagged {
	l.count++
	known := lexicon[word]
	if known.is != 0 {
		words = append(words, tagged{word, l.count, known.is})
	}
	if known.ends {
		for _, phrase := range [...]tagged{phrases[[3]string{"", l.before[1], word}], phrases[[3]string{l.before[0], l.before[1], word}]} {
			if phrase.is != 0 {
				words = append(words, tagged{phrase.text, l.count, phrase.is})
			}
		}
	}
	if isUnparted(word) {
		two := l.before[1] + " " + word
		for _, known := range unparted {
			if strings.Contains(two, known.text) && !strings.Contains(l.before[1], known.text) {
				words = append(words, tagged{known.text, l.count, known.is})
			}
		}
	}
	l.before = [2]string{l.before[1], word}
	return words
}
