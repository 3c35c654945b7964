package redact_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/mulligan-run/mulligan/internal/redact"
)

const canary = `k3y+<"with/odd&chars%é=end`

// each writes every character of a text with a format.
func each(format, text string) string {
	var b strings.Builder
	for _, r := range text {
		fmt.Fprintf(&b, format, r)
	}
	return b.String()
}

// inPieces reports whether got is clean except for two letters of a secret, in any encoding, that
// were shown before the secret was recognized.
func inPieces(got, clean string) bool {
	if got == clean {
		return true
	}
	parts := strings.Split(clean, redact.Mark)
	for i, part := range parts {
		parts[i] = regexp.QuoteMeta(part)
	}
	letters := `(?s:.|[\\%&#A-Za-z0-9;]{1,24}){0,2}`
	return regexp.MustCompile(`^` + strings.Join(parts, letters+regexp.QuoteMeta(redact.Mark)) + `$`).MatchString(got)
}

func lower(text string) string { return strings.ToLower(text) }

// quoted is text as it is inside a JSON string.
func quoted(text string) string {
	b, _ := json.Marshal(text)
	return string(b[1 : len(b)-1])
}

// spellings are encodings of the canary.
func spellings() map[string]string {
	s := map[string]string{
		"as it is": canary, "JSON": quoted(canary), "JSON in JSON": quoted(quoted(canary)), "JSON thrice": quoted(quoted(quoted(canary))),
		"JSON, all of it": each(`\u%04x`, canary), "JSON, capitals": each(`\u%04X`, canary),
		"JSON, slashes": strings.NewReplacer(`"`, `\"`, `/`, `\/`).Replace(canary),
		"URL, query":    url.QueryEscape(canary), "URL, path": url.PathEscape(canary), "URL, lower case": lower(url.QueryEscape(canary)),
		"URL twice": url.QueryEscape(url.QueryEscape(canary)), "URL in JSON": quoted(url.QueryEscape(canary)),
		"HTML": html.EscapeString(canary), "HTML, numbers": each("&#%d;", canary), "HTML, hex": each("&#x%x;", canary),
		"HTML, names":  strings.NewReplacer("+", "&plus;", "/", "&sol;", "=", "&equals;", "&", "&amp;").Replace(canary),
		"HTML in JSON": quoted(html.EscapeString(canary)), "HTML in JSON in a URL": url.QueryEscape(quoted(html.EscapeString(canary))),
		"hex": hex.EncodeToString([]byte(canary)), "hex, capitals": strings.ToUpper(hex.EncodeToString([]byte(canary))),
		"JavaScript": strings.NewReplacer("/", `\x2f`, "+", `\x2B`).Replace(canary),
	}
	for _, before := range []string{"", "u:", "me:"} {
		s["Base64 after "+before] = base64.StdEncoding.EncodeToString([]byte(before + canary + "!"))
		s["Base64 for URLs after "+before] = base64.URLEncoding.EncodeToString([]byte(before + canary + "!"))
	}
	return s
}

func TestEverySpelling(t *testing.T) {
	known := redact.New("another-secret-0", canary, "k3y+<") // with a short secret, and one that begins like it
	for name, spelt := range spellings() {
		clean := known.Text("before " + spelt + " after")
		if !strings.HasPrefix(clean, "before ") || !strings.HasSuffix(clean, " after") || strings.Count(clean, redact.Mark) != 1 || len(clean) > len("before  after")+len(redact.Mark)+8 {
			t.Errorf("%s: %q became %q", name, spelt, clean)
		}
	}
}

// TestEverySplit splits every encoding into two and three pieces, with other text shown between
// them.
func TestEverySplit(t *testing.T) {
	known := redact.New(canary)
	for name, spelt := range spellings() {
		text := "before " + spelt + " after"
		for i := range len(text) {
			s := known.Stream()
			if got := s.Push(text[:i]) + s.Push(text[i:]) + s.Flush(); !inPieces(got, known.Text(text)) {
				t.Fatalf("%s cut at %d: %q", name, i, got)
			}
			s = known.Stream()
			first := s.Push(text[:i]) + s.Flush()
			rest := s.Push(text[i:]) + s.Flush()
			if !strings.HasPrefix(text, first) && !strings.Contains(first, redact.Mark) {
				t.Fatalf("%s cut at %d: %q first", name, i, first)
			}
			if i > 7 && i < len(text)-6 && !strings.Contains(first+rest, redact.Mark) || !strings.HasSuffix(rest, text[max(i, len(text)-6):]) {
				t.Fatalf("%s interrupted at %d: %q, %q", name, i, first, rest)
			}
		}
		s, all := known.Stream(), ""
		for i := range len(text) {
			all += s.Push(text[i : i+1])
		}
		if all += s.Flush(); !inPieces(all, known.Text(text)) {
			t.Errorf("%s by the byte: %q", name, all)
		}
	}
}

// TestOtherTextStays: text that is not a secret is shown unchanged, and at once unless a secret may
// begin in it.
func TestOtherTextStays(t *testing.T) {
	known := redact.New(canary, "sk-0123456789abcdef", "ollama", "lm-studio", "x", "")
	for _, text := range []string{
		"", "a", "AT&T &amp; 100 % of \\u00e9", `{"a":"C:\\new","b":"\u00"}`, "sk-0123456789", "ollama and lm-studio", "&#;&#x;&bogus;", `\ud83d\ude00 \ud83d \udead`, "%zz%4", "x",
	} {
		if got := known.Text(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
		s := known.Stream()
		if got := s.Push(text) + s.Flush(); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
	s := known.Stream()
	if got := s.Push("Monday is") + s.Push(" what I ask") + s.Push(", then"); got != "Monday is what I ask, then" {
		t.Errorf("%q", got)
	}
	s = known.Stream()
	if got := s.Push("The key is sk") + s.Push("-0123456789abcdef.") + s.Flush(); got != "The key is sk"+redact.Mark+"." {
		t.Errorf("%q", got)
	}
	s = known.Stream()
	if got := s.Push("The key is sk-0123"); got != "The key is " {
		t.Errorf("%q", got)
	}
	if got := s.Push("45 is short"); got != "sk-012345 is short" {
		t.Errorf("%q", got)
	}
}

// TestAnyMixtureOfEscapes encodes a secret at random, in pieces of any size, and decodes what was
// shown as its readers might.
func TestAnyMixtureOfEscapes(t *testing.T) {
	known := redact.New(canary)
	rapid.Check(t, func(t *rapid.T) {
		var spelt strings.Builder
		for _, r := range canary {
			format := rapid.SampledFrom([]string{"%c", `\u%04x`, "&#%d;", "&#x%X;"}).Draw(t, "as")
			if strings.ContainsRune(`%&"`, r) && format == "%c" {
				format = `\u%04x` // it would begin or end an escape
			}
			one := fmt.Sprintf(format, r)
			if rapid.Bool().Draw(t, "again") {
				one = url.QueryEscape(one)
			}
			spelt.WriteString(one)
		}
		text := "<" + spelt.String() + ">"
		s, shown := known.Stream(), ""
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "piece")
			shown += s.Push(rest[:n])
			rest = rest[n:]
		}
		if shown += s.Flush(); !inPieces(shown, "<"+redact.Mark+">") {
			t.Fatalf("%q became %q", text, shown)
		}
	})
}

// TestEscapesMadeByEscapes: what an escape stands for may be a part of another one.
func TestEscapesMadeByEscapes(t *testing.T) {
	for _, c := range []struct{ secret, text string }{
		{"sk-live-secret", `&#115&#59;k-live-secret`},
		{"sk-live-secret", `&#115%3bk-live-secret`},
		{"sk-live-secret", `&#115\u003bk-live-secret`},
		{"sk-live-secret", `&\u0023115;k-live-secret`},
		{"sk-live-secret", `736b2d6c6976652d73656372657\u00%334`},
		{"/secret-key", `&sol%3bsecret-key`},
		{"ab/cd-ef-gh", `ab&sol%3bcd-ef-gh`},
		{"secret-key-1", `\u&#48;073ecret-key-1`},
	} {
		known := redact.New(c.secret)
		if got := known.Text(c.text); got != redact.Mark {
			t.Errorf("%s in %s: %s", c.secret, c.text, got)
		}
		for cut := range c.text {
			s := known.Stream()
			if got := s.Push(c.text[:cut]) + s.Push(c.text[cut:]) + s.Flush(); !inPieces(got, redact.Mark) {
				t.Errorf("%s in %s cut at %d: %s", c.secret, c.text, cut, got)
			}
		}
	}
}

func TestErrors(t *testing.T) {
	known := redact.New(canary)
	plain := errors.New("plain")
	if known.Error(plain) != plain || known.Error(nil) != nil { //nolint:errorlint // the very same error
		t.Error("an error without a secret is another")
	}
	if err := known.Error(fmt.Errorf("bad %s: %w", canary, plain)); strings.Contains(err.Error(), "k3y") || errors.Is(err, plain) {
		t.Error(err)
	}
}

// TestManyKeysAreForgotten: memory does not grow although every key is new.
func TestManyKeysAreForgotten(t *testing.T) {
	known := &redact.Known{}
	for i := range 300 {
		known.Add(fmt.Sprintf("secret-%04d-secret", i))
	}
	if known.Text("secret-0299-secret") != redact.Mark || known.Text("secret-0000-secret") == redact.Mark {
		t.Error("the newest are not those that are known")
	}
}

func FuzzText(f *testing.F) {
	known := redact.New(canary, "0123456789abcdef")
	for _, spelt := range spellings() {
		f.Add(spelt, 3)
	}
	f.Add(`\ud83d\u`, 4)
	f.Fuzz(func(t *testing.T, text string, cut int) {
		clean := known.Text(text)
		if strings.Contains(clean, canary) || strings.Contains(clean, "0123456789abcdef") {
			t.Fatalf("%q", clean)
		}
		if cut < 0 || cut > len(text) || !utf8.ValidString(clean) { // inPieces compares by a regular expression
			return
		}
		s := known.Stream()
		if got := s.Push(text[:cut]) + s.Push(text[cut:]) + s.Flush(); !inPieces(got, clean) {
			t.Fatalf("%q cut at %d became %q, not %q", text, cut, got, clean)
		}
	})
}

// BenchmarkText has events of an answer with line ends and quotes in it.
func BenchmarkText(b *testing.B) {
	known := redact.New("sk-proj-0123456789abcdefghijklmnopqrstuvwxyz")
	event := `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":" \"x\",\n {\"a\":\"b\\n\"}"}}]}`
	text := strings.Repeat(event+"\n\n", 10)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		known.Text(text)
	}
}

func BenchmarkPush(b *testing.B) {
	var keys []string
	for i := range 20 {
		keys = append(keys, fmt.Sprintf("sk-%02d-0123456789abcdefghijklmnopqrstuvwxyz", i))
	}
	s := redact.New(keys...).Stream()
	b.ReportAllocs()
	for b.Loop() {
		s.Push("some words ")
	}
}
