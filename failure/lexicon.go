package failure

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// concept is a set of things that words may mean in a message about a failed call.
type concept uint64

// What a clause may be about, and what it may say of that.
const (
	ofMoney concept = 1 << iota
	ofQuota
	ofRate
	ofContext
	ofText
	ofRequest
	ofTokens
	ofAccount
	ofOutput
	ofAnswer
	ofImage
	ofModel
	ofAbility
	ofLogin
	ofPermission
	ofContent
	ofStream
	ofNetwork
	ofHost
	ofTLS
	ofURL
	ofRegion
	ofServer
	ofStop
	ofMachine
	ofCapacity
	ofData
	ofInput

	isLacking
	isEmpty
	isUnset
	isExceeded
	isLong
	isGone
	isDenied
	isBlocked
	isWrong
	isUnsupported
	isFailed
	isMalformed
	isBroken
	isDown
	isRule
	isCut
	isBusy
	isLate
	isViolated
	isAsked
	isPassing
	perMinute
	perDay
	aLimit

	isBad = isWrong | isUnsupported | isFailed
)

// meaning is what is known of a word: what it means by itself, and the phrases that end with it.
type meaning struct {
	is      concept
	phrases []phrase
}

// phrase is two or three words that mean something together.
type phrase struct {
	before []string // the words but the last, each a stem if it ends with a star
	text   string
	is     concept
}

// thesaurus is what the words of meanings come to.
type thesaurus struct {
	words    map[string]meaning
	of       map[string]meaning // by stem
	begins   trigrams           // the stems' first three bytes
	longest  int                // stem, in bytes
	endings  []tagged           // of words that German puts together
	unparted []tagged           // looked for within the words of languages that do not part them
}

var lexicon = newThesaurus(meanings)

func newThesaurus(meanings map[concept]string) *thesaurus {
	t := &thesaurus{words: map[string]meaning{}, of: map[string]meaning{}}
	all := map[string]concept{}
	for is, list := range meanings {
		for entry := range strings.SplitSeq(list, ",") {
			all[plainLetters(strings.Join(strings.Fields(entry), " "))] |= is
		}
	}
	for _, entry := range slices.Sorted(maps.Keys(all)) {
		t.add(entry, all[entry])
	}
	for _, stem := range slices.Sorted(maps.Keys(t.of)) { // what a shorter stem means, a longer one means as well
		t.begins.add(stem)
		t.longest = max(t.longest, len(stem))
		for n := len(stem) - 1; n >= minStem; n-- {
			if shorter, ok := t.of[stem[:n]]; ok {
				t.of[stem] = t.of[stem].with(shorter)
				break
			}
		}
	}
	return t
}

// minStem is the shortest stem, in bytes.
const minStem = 3

// add takes an entry: a word, a stem ("exced*"), an ending ("*verbindung"), or two or three
// words of which each may be a stem.
func (t *thesaurus) add(entry string, is concept) {
	parts := strings.Fields(entry)
	last := parts[len(parts)-1]
	known := meaning{is: is}
	if len(parts) > 1 {
		known = meaning{phrases: []phrase{{parts[:len(parts)-1], strings.ReplaceAll(entry, "*", ""), is}}}
	}
	stem, isStem := strings.CutSuffix(last, "*")
	switch {
	case isUnparted(entry) && !strings.Contains(entry, "*"):
		t.unparted = append(t.unparted, tagged{text: entry, is: is})
	case strings.HasPrefix(last, "*"):
		t.endings = append(t.endings, tagged{text: last[1:], is: is})
	case isStem:
		t.of[stem] = t.of[stem].with(known)
	default:
		t.words[last] = t.words[last].with(known)
	}
}

func (m meaning) with(other meaning) meaning {
	return meaning{m.is | other.is, slices.Concat(m.phrases, other.phrases)}
}

// stem gives what the longest stem that word begins with means.
func (t *thesaurus) stem(word string) meaning {
	if len(word) < minStem || t.begins.lacks(word[:minStem]) {
		return meaning{}
	}
	for n := min(len(word), t.longest); n >= minStem; n-- {
		if m, ok := t.of[word[:n]]; ok {
			return m
		}
	}
	return meaning{}
}

// ending gives what a German word that others are put together in means: Internetverbindung.
func (t *thesaurus) ending(word string) concept {
	if len(word) < minJoined {
		return 0
	}
	for _, known := range t.endings {
		if strings.HasSuffix(word, known.text) {
			return known.is
		}
	}
	return 0
}

// minJoined is the shortest word that may be put together of others, in bytes.
const minJoined = 9

// isA reports whether word is the one of an entry, begins as its stem or has its ending.
func isA(word, entry string) bool {
	if stem, isStem := strings.CutSuffix(entry, "*"); isStem {
		return strings.HasPrefix(word, stem)
	}
	if ending, isEnding := strings.CutPrefix(entry, "*"); isEnding {
		return strings.HasSuffix(word, ending)
	}
	return word == entry
}

// plainLetters is word, in lower case, with the plain letters of its marked ones: those who write
// in a hurry leave the marks out.
func plainLetters(word string) string {
	for i := 0; i < len(word); i++ {
		if word[i] >= utf8.RuneSelf {
			return unmarkedLetters.Replace(word)
		}
	}
	return word
}

var unmarkedLetters = strings.NewReplacer(
	"à", "a", "á", "a", "â", "a", "ã", "a", "ä", "a", "å", "a", "ç", "c", "è", "e", "é", "e", "ê", "e", "ë", "e", "ì", "i", "í", "i", "î", "i", "ï", "i",
	"ñ", "n", "ò", "o", "ó", "o", "ô", "o", "õ", "o", "ö", "o", "ù", "u", "ú", "u", "û", "u", "ü", "u", "ý", "y", "ß", "ss", "œ", "oe", "ё", "е",
)
