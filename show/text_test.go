package show

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/mulligan-run/mulligan/internal/terminal"
)

// steering are pieces of text that do something to a terminal, or to who reads it. Each is
// tried in several places: 200 strings in all.
var steering = []string{
	"\x1b]52;c;ZXZpbA==\x07", "\x1b]52;c;ZXZpbA==\x1b\\", "\x1b]52;p;?\x07", "\u009d52;c;ZXZpbA==\u009c", // the clipboard
	"\x1b]8;;http://evil.example\x1b\\bank.example\x1b]8;;\x1b\\", "\x1b]8;id=1;file:///etc/passwd\x07x\x1b]8;;\x07", // links
	"\x1b]0;title\x07", "\x1b]2;title\x1b\\", "\x1b]7;file://evil/\x07", "\x1b]9;notify\x07", "\x1b]777;notify;a;b\x07", "\x1b]1337;File=:AA==\x07", "\x1b]4;1;?\x07",
	"\x1b[2J", "\x1b[H", "\x1b[1A\x1b[2K", "\x1b[31m", "\x1b[?1049h", "\x1b[?25l", "\x1b[6n", "\x1b[c", "\x1b[21t", "\x1b[8m", "\u009b2J", "\x9b2J", "\x1b[200~", // CSI
	"\x1bP$q\"p\x1b\\", "\x1bP+q544e\x1b\\", "\u0090q#0;2;0;0;0\u009c", "\x90q", "\x1bP1000p", // DCS
	"\x1b_Gi=1;AAAA\x1b\\", "\x1b^private\x1b\\", "\x1bXstring\x1b\\", "\x1bc", "\x1b#8", "\x1b(0", "\x1b7\x1b8", "\x1bN", // APC, PM, SOS, resets, character sets
	"\a", "\b\b\b", "\r", "\x0b", "\f", "\x0e\x0f", "\x7f", "\x00", "\u0085", "\u008d", // C0 and C1
	"\u202eevil\u202c", "\u2066a\u2067b\u2068c\u2069", "\u200e\u200f\u061c", "\u202a\u202b\u202d", // the direction of text
	"\x1b", "\x1b\x1b", "\x1b[", "\x1b]", "\u0080\u009f", "\xff\xfe", "\xc2", "\xed\xa0\x80", "\xf4\x90\x80\x80",
}

// TestS33NothingSteersTheTerminal: what a model, a provider or a plugin says is text, also
// if it comes in pieces.
func TestS33NothingSteersTheTerminal(t *testing.T) {
	n := 0
	for _, piece := range steering {
		for _, text := range []string{piece, "before" + piece, piece + "after", strings.Repeat(piece, 3)} {
			n++
			pieces := ""
			for i := range len(text) {
				pieces += terminal.Printable(text[i:i+1], true)
			}
			for how, got := range map[string]string{"as lines": terminal.Printable(text, true), "as one line": terminal.OneLine(text), "in pieces": pieces} {
				if strings.ContainsFunc(got, steers) {
					t.Errorf("%q %s is %q", text, how, got)
				}
			}
			if got := terminal.Printable(text, true); strings.Contains(text, "before") && !strings.HasPrefix(got, "before") {
				t.Errorf("%q lost its text: %q", text, got)
			}
		}
	}
	if n < 200 {
		t.Errorf("the corpus has %d strings", n)
	}
	for _, kept := range []string{"a\n\tb", "Grüße, 世界", "👩‍👩‍👧 ❤️", "مرحبا", "e\u0301"} {
		if got := terminal.Printable(kept, true); got != kept {
			t.Errorf("%q became %q", kept, got)
		}
	}
}

// steers reports whether a rune is a control, or turns the direction of text.
func steers(r rune) bool {
	return unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r) || r == unicode.ReplacementChar
}

func TestPrintable(t *testing.T) {
	if got := terminal.Printable("a\x1b[31mb\r\n\tc\u202ed\x00\u009b", true); got != "a[31mb\n\tcd" {
		t.Errorf("%q", got)
	}
	if got := terminal.OneLine("a\n\n  b\x07"); got != "a b" {
		t.Errorf("%q", got)
	}
}

// TestAComplaintKeepsItsEnd: what a plugin wrote last comes last, and in most languages says what was wrong.
func TestAComplaintKeepsItsEnd(t *testing.T) {
	const short = "no plugin is attached yet"
	if got := complaint(short, 60); got != short {
		t.Errorf("got %q", got)
	}
	said := complaint("plugin mine ended (exit status 1); it said last:\n  File \"/a/long/way/to/the/plugin.py\", line 1\n    é(é\n     ^\nSyntaxError: '(' was never closed\n", 100)
	if !strings.HasPrefix(said, "plugin mine ended (exit status 1); it") || !strings.HasSuffix(said, "SyntaxError: '(' was never closed") || len(said) > 100 {
		t.Errorf("got %q", said)
	}
	for most := 20; most < 160; most++ {
		if got := complaint(strings.Repeat("é", 100), most); !utf8.ValidString(got) || len(got) > most {
			t.Errorf("%d: %q", most, got)
		}
	}
}
