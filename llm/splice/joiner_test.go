package splice_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/llm/splice"
)

// join has a model say these pieces after text, and gives what is shown of each, the last of
// the end.
func join(text string, form splice.Form, pieces ...string) (shown []string, err error) {
	j := splice.NewJoiner(text, form, llm.Usage{})
	deltas := []llm.Delta{{Kind: llm.DeltaStart, RequestID: "second"}}
	for _, p := range pieces {
		deltas = append(deltas, llm.Delta{Kind: llm.DeltaText, Text: p})
	}
	deltas = append(deltas, llm.Delta{Kind: llm.DeltaStop, Stop: llm.StopEnd})
	for i, d := range deltas {
		out, err := j.Add(d, nil)
		if err != nil {
			return shown, err
		}
		var said string
		for _, d := range out {
			said += d.Text
		}
		if i > 0 {
			shown = append(shown, said)
		}
	}
	return shown, nil
}

func TestJoining(t *testing.T) {
	long := "The quick brown fox jumps over the lazy dog, again and again, and again, until everybody is tired of it, and then it is"
	end := long[len(long)-100:]
	for name, c := range map[string]struct {
		text, then string
		form       splice.Form
		want       string
	}{
		"goes on":                        {"It is 14", " degrees.", splice.Prefill, " degrees."},
		"says nothing more":              {"It is 14.", "", splice.Prefill, ""},
		"repeats all":                    {"It is 14", "It is 14 degrees.", splice.Prefill, " degrees."},
		"repeats all, after a line":      {"It is 14", "\n\nIt is 14 degrees.", splice.Quote, " degrees."},
		"repeats all and says no more":   {"It is 14", "It is 14", splice.Prefill, ""},
		"white space written back":       {"It is ", " 14", splice.Prefill, "14"},
		"white space not written back":   {"It is ", "14", splice.Prefill, "14"},
		"some of it written back":        {"It is:\n\n", "\n14", splice.Prefill, "14"},
		"more than that":                 {"It is: ", " \n14", splice.Prefill, "\n14"},
		"repeats all with white space":   {"It is ", "It is 14", splice.Prefill, "14"},
		"begins as before, by accident":  {"Item one is red. ", "It is nice", splice.Prefill, "It is nice"},
		"white space only, then text":    {"\n", "\nIt is 14", splice.Prefill, "It is 14"},
		"repeats the quote":              {long, end + " over.", splice.Quote, " over."},
		"repeats the quote's beginning":  {long, end[:40] + " over.", splice.Quote, end[:40] + " over."},
		"a prefill has no quote":         {long, end + " over.", splice.Prefill, end + " over."},
		"repeats all rather than a part": {long, long + " over.", splice.Quote, " over."},
		"the quote begins as all does":   {strings.Repeat("ab", 80), strings.Repeat("ab", 50) + "c", splice.Quote, "c"},
		"and a little more of it":        {strings.Repeat("ab", 80), strings.Repeat("ab", 52) + "c", splice.Quote, "ababc"},
	} {
		for _, pieces := range [][]string{{c.then}, strings.SplitAfter(c.then, ""), strings.SplitAfter(c.then, " ")} {
			shown, err := join(c.text, c.form, pieces...)
			if got := strings.Join(shown, ""); err != nil || got != c.want {
				t.Errorf("%s: %q, not %q: %v", name, got, c.want, err)
			}
		}
	}
}

func TestI53Restarts(t *testing.T) {
	text := "The quick brown fox jumps over the lazy dog, again and again."
	for name, then := range map[string]string{
		"another end":         "The quick brown fox jumps over the lazy dog, but only once.",
		"after white space":   "\n\nThe quick brown fox jumps over the lazy cat.",
		"and stops before it": text[:40],
	} {
		for _, pieces := range [][]string{{then}, strings.SplitAfter(then, "")} {
			shown, err := join(text, splice.Quote, pieces...)
			if !errors.Is(err, splice.ErrRestarted) || strings.Join(shown, "") != "" {
				t.Errorf("%s: %q is shown: %v", name, shown, err)
			}
		}
	}
}

// TestOneAnswer: of the second call there is no beginning, no id and no reasoning of its own;
// what it calls comes after all of its text; its usage is that of both.
func TestOneAnswer(t *testing.T) {
	j := splice.NewJoiner("It is 14", splice.Quote, llm.Usage{InputTokens: 5, OutputTokens: 2})
	var out []llm.Delta
	var err error
	for _, d := range []llm.Delta{
		{Kind: llm.DeltaStart, RequestID: "second"},
		{Kind: llm.DeltaUsage, Usage: llm.Usage{InputTokens: 10}},
		{Kind: llm.DeltaFrame, Frame: &llm.Frame{Status: 200}},
		{Kind: llm.DeltaThinking, Text: "hm", Signature: "s"},
		{Kind: llm.DeltaText, Text: "It"},
		{Kind: llm.DeltaCall, Index: 1, CallID: "c", Name: "weather"},
		{Kind: llm.DeltaArgs, Index: 1, Text: "{}"},
		{Kind: llm.DeltaStop, Stop: llm.StopToolUse},
	} {
		if out, err = j.Add(d, out); err != nil {
			t.Fatal(err)
		}
	}
	var kinds []llm.DeltaKind
	var all llm.Answer
	for _, d := range out {
		if d.Kind != llm.DeltaPing {
			kinds = append(kinds, d.Kind)
		}
		all.Add(d)
	}
	if want := []llm.DeltaKind{llm.DeltaUsage, llm.DeltaText, llm.DeltaCall, llm.DeltaArgs, llm.DeltaStop}; !slices.Equal(kinds, want) {
		t.Errorf("%v", kinds)
	}
	if all.RequestID != "" || all.Usage != (llm.Usage{InputTokens: 15, OutputTokens: 2}) || all.Message("").Text() != "It" {
		t.Errorf("%+v", all)
	}
}

// TestI53AnyRest: a model that goes on with the rest of a text, whatever it repeats of it first
// and in whatever pieces it comes, gives exactly the rest, and each piece of it at once.
func TestI53AnyRest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, form, rest := drawText(t, "text"), drawForm(t), drawText(t, "rest")
		words := strings.TrimRightFunc(text, unicode.IsSpace)
		space := text[len(words):]
		end := string([]rune(text)[max(0, len([]rune(text))-100):])
		says := rapid.SampledFrom([]string{"nothing", "space", "all", "all and space", "line and all", "quote"}).Draw(t, "says first")
		first := map[string]string{"space": space, "all": words, "all and space": text, "line and all": "\n" + words, "quote": strings.TrimSpace(end)}[says]
		switch {
		case words == "" && says != "nothing" && says != "space", says == "quote" && form == splice.Prefill:
			t.Skip("there is nothing to repeat")
		case likeAnother(first+rest, words, end, first):
			t.Skip("it may be read in two ways")
		}
		want := rest
		if first == "" || !strings.HasSuffix(first, space) || space == "" {
			want = rest[commonBytes(rest, space):]
		}
		shown, err := join(text, form, pieces(t, first+rest)...)
		if got := strings.Join(shown, ""); err != nil || got != want {
			t.Fatalf("after %q it says %q: shown is %q, not %q: %v", text, first+rest, got, want, err)
		}
	})
}

// likeAnother reports whether what is said after first could be a longer repetition, or said
// is one where none was meant.
func likeAnother(said, words, end, first string) bool {
	body, repeated := strings.TrimSpace(said), strings.TrimSpace(first)
	for _, echo := range []string{strings.TrimSpace(words), strings.TrimSpace(end)} {
		n := commonBytes(body, echo)
		if n > len(repeated) || repeated == "" && n > 0 {
			return true
		}
	}
	return false
}

// TestI53AnyPieces: what is shown does not depend on where the pieces end, and nothing is held back
// that cannot be a repetition any more.
func TestI53AnyPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, form, then := drawText(t, "text"), drawForm(t), drawText(t, "then")
		if rapid.Bool().Draw(t, "repeats") {
			runes := []rune(text)
			then = string(runes[:rapid.IntRange(0, len(runes)).Draw(t, "so much")]) + then
		}
		whole, wholeErr := join(text, form, then)
		cut := pieces(t, then)
		shown, err := join(text, form, cut...)
		if got, want := strings.Join(shown, ""), strings.Join(whole, ""); !errors.Is(err, wholeErr) || got != want {
			t.Fatalf("in pieces %q it is %q (%v), and %q (%v)", cut, got, err, want, wholeErr)
		}
		if err != nil {
			if strings.Join(shown, "") != "" {
				t.Fatalf("%q is shown of an answer that began anew", shown)
			}
			return
		}
		if !strings.HasSuffix(then, strings.Join(shown, "")) {
			t.Fatalf("%q is not the end of %q", shown, then)
		}
		said := ""
		for i, p := range cut {
			said += p
			body := strings.TrimSpace(said)
			may := strings.HasPrefix(strings.TrimSpace(text), body) || form == splice.Quote && strings.Contains(text, body)
			if late := strings.Join(shown[i+1:], ""); !may && len(late) > len(strings.Join(cut[i+1:], "")) {
				t.Fatalf("%q is shown late of %q after %q", late, said, text)
			}
		}
	})
}

// TestLongRepetition: what repeats a long text in small pieces costs what it is long.
func TestLongRepetition(t *testing.T) {
	text := strings.Repeat("the cat sat on the mat, ", 1<<16)
	shown, err := join(text, splice.Quote, strings.SplitAfter(text+"and slept.", ",")...)
	if got := strings.Join(shown, ""); err != nil || got != "and slept." {
		t.Errorf("%d bytes: %v", len(got), err)
	}
}

// pieces cuts text between characters.
func pieces(t *rapid.T, text string) []string {
	var list []string
	for text != "" {
		runes := []rune(text)
		n := rapid.IntRange(1, min(len(runes), 40)).Draw(t, "piece")
		list = append(list, string(runes[:n]))
		text = string(runes[n:])
	}
	return list
}

func commonBytes(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
