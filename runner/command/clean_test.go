package command

import (
	"bytes"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func FuzzClean(f *testing.F) {
	for _, seed := range []string{"", "plain\ttext\n", "\x1b[1;31mred\x1b[0m", "\x1b]8;;http://x\x1b\\link\x1b]8;;\x07", "\x1b", "\r\x1b[0m\n", "\xff\xfe€\xe2\x82", "\u0085\u009b31m\x00"} {
		f.Add([]byte(seed), uint16(40))
	}
	f.Fuzz(func(t *testing.T, b []byte, most uint16) {
		got := clean(b)
		if !utf8.ValidString(got) {
			t.Fatalf("not UTF-8: %q", got)
		}
		if i := strings.IndexFunc(got, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }); i >= 0 {
			t.Fatalf("a control character at %d: %q", i, got)
		}
		if again := clean([]byte(got)); again != got {
			t.Fatalf("%q, cleaned again %q", got, again)
		}
		plain := utf8.Valid(b) && bytes.IndexFunc(b, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }) < 0
		if plain && got != string(b) {
			t.Fatalf("plain text %q became %q", b, got)
		}
		bounded(t, b, MinOutput+int(most))
	})
}

// bounded checks that what is kept of an output keeps to its bound, however it comes.
func bounded(t *testing.T, b []byte, most int) {
	t.Helper()
	whole, pieces := newOutput(most), newOutput(most)
	for range 40 {
		_, _ = whole.Write(b)
		for i := 0; i < len(b); i += 7 {
			_, _ = pieces.Write(b[i:min(i+7, len(b))])
		}
	}
	text := whole.text(most)
	if len(text) > most || !utf8.ValidString(text) {
		t.Fatalf("%d bytes of at most %d: %q", len(text), most, text)
	}
	if other := pieces.text(most); other != text {
		t.Fatalf("in pieces %q, at once %q", other, text)
	}
	if last := whole.last(100); len(last) > 100 || !utf8.ValidString(last) {
		t.Fatalf("the last %d bytes: %q", len(last), last)
	}
}
