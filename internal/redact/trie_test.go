package redact

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// thorough is find that reads every escape.
func (t *trie) thorough(text string) (found []span, open, wait int) {
	open, wait = len(text), len(text)
	v := view{text: text, cut: len(text)}
	for depth := 0; ; depth++ {
		found, open, wait = t.searchFrom(0, v, found, open, wait)
		if depth == maxDepth {
			return joined(found), open, wait
		}
		v = v.unescape()
		if v.cut < len(v.text) {
			wait = min(wait, v.start(v.cut))
			open = min(open, wait)
		}
	}
}

// TestEscapesThatHideNothing: passing over them changes nothing of what is found, or held back.
func TestEscapesThatHideNothing(t *testing.T) {
	known := New("se/cr et-1", "key:abc")
	pieces := append(strings.Split(`se/cr et-1key:abc`, ""),
		"se/cr et-1", `\/`, `\\`, `\"`, `\n`, `\u0073`, `\u00`, `\ud83d`, `\ude00`, `\x63`, `%63`, `%`, `%0`, `&`, `&sol;`, `&quot;`, `&am`, `&amp;`, `\`, "words ",
		`%3b`, `\u003b`, `&#59;`, `&sol`, `&#115`, `&#1`, `15`, `%23`, `\u0030`, `%30`, `\u0023`)
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 30).Draw(t, "text"), "")
		tr := known.now.Load()
		found, open, wait := tr.find(text)
		if wantFound, wantOpen, wantWait := tr.thorough(text); !slices.Equal(found, wantFound) || open != wantOpen || wait != wantWait {
			t.Fatalf("%q: %v, %d, %d; thoroughly %v, %d, %d", text, found, open, wait, wantFound, wantOpen, wantWait)
		}
	})
}
