package failure

import "strings"

// wordTable finds what is known of a word. Most words of a message are in none of the lexicon's
// entries, and each costs one look at a few bytes of it.
type wordTable struct {
	first   [1 << wordBits]uint16 // by hash: the place of an entry, counted from 1; 0 = there is none
	entries []wordEntry
}

// wordEntry is a word of the table and the place of the next one with its hash.
type wordEntry struct {
	word string
	next uint16
	meaning
}

// wordBits is how many bits of a word's hash are kept: there are several times as many hashes as words.
const wordBits = 15

func (t *wordTable) add(word string, known meaning) {
	h := wordHash(word)
	t.entries = append(t.entries, wordEntry{word, t.first[h], known})
	t.first[h] = uint16(len(t.entries))
}

// of gives the meaning of a word, and the phrases that end with it.
func (t *wordTable) of(word string) meaning {
	for i := t.first[wordHash(word)]; i != 0; i = t.entries[i-1].next {
		if entry := &t.entries[i-1]; entry.word == word {
			return entry.meaning
		}
	}
	return meaning{}
}

// wordHash hashes a word by its length and five of its bytes.
func wordHash(word string) uint32 {
	n := len(word)
	h := uint32(word[0])<<24 | uint32(word[n-1])<<16 | uint32(word[n/2])<<8 | uint32(n)&0xFF
	h = h*2654435761 ^ (uint32(word[n/4])<<8|uint32(word[n-1-n/4]))*0x9E3779B1
	return h * 2654435761 >> (32 - wordBits)
}

// stemTable finds the longest stem that a word begins with, among those that have its first three
// bytes.
type stemTable struct {
	first   [1 << trigramBits]uint16 // by those bytes: the place of the longest, counted from 1; 0 = there is none
	entries []wordEntry
}

// add adds a stem, of at least minStem bytes, that is no shorter than those before it.
func (t *stemTable) add(stem string, known meaning) {
	h := trigram(stem)
	t.entries = append(t.entries, wordEntry{stem, t.first[h], known})
	t.first[h] = uint16(len(t.entries))
}

// of gives the meaning of the longest stem that word begins with.
func (t *stemTable) of(word string) meaning {
	if len(word) < minStem {
		return meaning{}
	}
	for i := t.first[trigram(word)]; i != 0; i = t.entries[i-1].next {
		if entry := &t.entries[i-1]; strings.HasPrefix(word, entry.word) {
			return entry.meaning
		}
	}
	return meaning{}
}
