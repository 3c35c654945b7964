package failure

import (
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/mulligan-run/mulligan/failure/words"
)

// checkWords checks the properties of every failure's words.
func checkWords(t *testing.T, name string, f *Failure) {
	t.Helper()
	for _, text := range []string{f.Title, f.Message, f.Short()} {
		if text == "" || !utf8.ValidString(text) || strings.ContainsAny(text, "\n\r\x00") {
			t.Errorf("%s: bad text %q", name, text)
		}
	}
	if strings.Contains(f.Message, f.Title) {
		t.Errorf("%s: the message repeats its title: %s", name, f.Line())
	}
	if len(f.Title)+len(f.Message) > MaxMessage {
		t.Errorf("%s: %d bytes", name, len(f.Title)+len(f.Message))
	}
}

func TestTheSpecsSentences(t *testing.T) {
	f := Classify(Evidence{Err: errors.New("fetch failed"), Provider: "anthropic"})
	if want := "Could not reach Anthropic. Check your Internet connection or Anthropic status."; f.Line() != want {
		t.Errorf("%q, want %q", f.Line(), want)
	}
	s := NewFailure(KindStepTimeout, OriginRunner, PhaseMidStream, nil)
	s.Limit, s.LastStep = 120_000, "web_search"
	s.Describe(Words{})
	if want := "No progress for 2 min. Last action: web_search. The task may be stuck. Retry, or ask for a simpler approach."; s.Line() != want {
		t.Errorf("%q, want %q", s.Line(), want)
	}
}

// TestEveryKindAndVariant renders every kind and variant with nothing, with something and with
// everything known.
func TestEveryKindAndVariant(t *testing.T) {
	all := Words{
		KeyHint: "wxyz", EnvVar: "ANTHROPIC_API_KEY", PartialWords: 12, ContextTokens: 213_462, ContextLimit: 200_000,
		TokenLimit: 4096, Spent: "12,000 tokens", Budget: "10,000 tokens", Reason: "the file is gone",
	}
	for _, kind := range append(Kinds(), "a_kind_of_tomorrow") {
		for _, variant := range append([]string{"", "a_variant_of_tomorrow"}, variantsOf(kind)...) {
			bare := NewFailure(kind, OriginModel, "", nil)
			bare.Variant = variant
			full := *bare
			full.Provider, full.Model, full.Tool, full.HTTPStatus = "anthropic", "anthropic/m", "web_search", 503
			full.Limit, full.Elapsed, full.LastStep = 120_000, 130_000, "web_search"
			full.RetryAfter, full.ResetsAt, full.Detail = 40_000, testNow, "a <b>bold</b> word"
			for _, w := range []Words{{}, all} {
				for _, f := range []Failure{*bare, full} {
					f.Describe(w)
					name := string(kind) + "/" + variant
					checkWords(t, name, &f)
					if strings.ContainsAny(f.Line()+f.Short(), "{}<>") || strings.Contains(f.Line(), "  ") || strings.Contains(f.Line(), "()") {
						t.Errorf("%s has a hole: %s", name, f.Line())
					}
				}
			}
		}
	}
}

func TestPhrases(t *testing.T) {
	for _, tt := range []struct {
		f    Failure
		w    Words
		want string
	}{
		{Failure{Kind: KindRateLimit, Provider: "openai", RetryAfter: 40_000}, Words{}, "OpenAI asked to slow down. This key has sent too many requests. OpenAI accepts more in 40 s."},
		{Failure{Kind: KindRateLimit, Provider: "work"}, Words{}, "work asked to slow down. This key has sent too many requests. work did not say when it accepts more."},
		{Failure{Kind: KindQuota, Model: "openai/gpt", RetryAfter: 3_600_000, ResetsAt: testNow.Add(time.Hour)}, Words{}, "Usage limit reached for gpt. It resets at 13:00 UTC (in 1 h)."},
		{Failure{Kind: KindAuth, Provider: "anthropic"}, Words{KeyHint: "wxyz"}, "Anthropic rejected the API key. Update the key ending in wxyz, then retry. Retrying with the same key will not help."},
		{Failure{Kind: KindAuth, Variant: "missing", Provider: "anthropic"}, Words{EnvVar: "ANTHROPIC_API_KEY"}, "No API key for Anthropic. Set ANTHROPIC_API_KEY or add a key in settings, then retry."},
		{Failure{Kind: KindStreamInterrupted, Provider: "anthropic"}, Words{PartialWords: 1}, "The answer was cut off. The connection to Anthropic broke after 1 word. It is kept until the next attempt."},
		{Failure{Kind: KindContextOverflow, Model: "m"}, Words{ContextTokens: 213_462, ContextLimit: 200_000}, "This conversation is too long for m. It has about 213,462 tokens and m takes 200,000. Retrying unchanged will not help."},
		{Failure{Kind: KindOverloaded, HTTPStatus: 529}, Words{}, "The provider is overloaded. Its servers are full (529); this is not your usage limit."},
		{Failure{Kind: KindBilling}, Words{}, "Your account has no credit left. Add credit, or use another provider."},
		{Failure{Kind: KindBilling, Provider: "openai"}, Words{}, "Your OpenAI account has no credit left. Add credit, or use another provider."},
		{Failure{Kind: KindAuth, Variant: "expired_login"}, Words{}, "Your sign-in has expired. Sign in again, then retry. The conversation is kept."},
		{Failure{Kind: KindInvalidRequest, Provider: "openai", Detail: "No <b>tool</b> output."}, Words{}, "OpenAI did not accept the request. It said: “No tool output.” Retrying unchanged will not help."},
		{Failure{Kind: KindTimeout, Provider: "anthropic", Limit: 30_000}, Words{}, "Anthropic is not answering. No answer within 30 s. It may be slow or down. Your message is kept."},
	} {
		tt.f.Describe(tt.w)
		if got := tt.f.Line(); got != tt.want {
			t.Errorf("\n got %s\nwant %s", got, tt.want)
		}
	}
}

// hostileTexts are what a provider, a tool or a user might put where words are expected.
var hostileTexts = map[string]string{
	"HTML":         `<b>no</b> <script>alert("zebra")</script> &lt;img src=x&gt; <a href="x">`,
	"escaped HTML": "a &lt;script&gt;zebra&lt;/script&gt; <i>b</i> <<b>script>",
	"a key":        "the key sk-ant-api03-zebraZEBRA0123456789 was refused, and so was AIzaSyZebra0123456789zebra",
	"a bearer":     "Authorization: Bearer zebraZEBRA0123456789.zebra-_",
	"a token":      "eyJhbGciOiJIUzI1NiJ9.zebrazebrazebra.zebra",
	"a password":   "proxyconnect tcp: https://me:zebra@proxy.example:8080 refused",
	"Go's stack":   "panic: odd\n\ngoroutine 7 [running]:\nmain.zebra(0x1)\n\t/home/zebra/main.go:12 +0x1d",
	"one line":     "panic: odd goroutine 7 [running]: main.zebra(0x1) /home/zebra/main.go:12 +0x1d",
	"JS's stack":   "TypeError: odd\n    at zebra (/home/zebra.js:1:2)\n    at async /home/zebra.js:3:4",
	"JS, one line": "TypeError: odd at zebra (/home/zebra.js:1:2) at async /home/zebra.js:3:4",
	"Python's":     "Traceback (most recent call last):\n  File \"/home/zebra.py\", line 3, in zebra\n",
	"not UTF-8":    "a\xff\xfe\x00\x1b[31mb\u2028c\r\nd",
	"long":         strings.Repeat("é ", 50_000),
	"long word":    strings.Repeat("x", 100_000),
	"placeholders": "{provider} {Reason} {",
	"blank":        " \n\t ",
	"bidi":         "\u202eabc",
}

// TestHostileWords puts hostile texts, and the titles themselves, into every field.
func TestHostileWords(t *testing.T) {
	for _, kind := range append(Kinds(), "a_kind_of_tomorrow") {
		for _, variant := range append([]string{"", "a_variant_of_tomorrow"}, variantsOf(kind)...) {
			texts := map[string]string{}
			for name, text := range hostileTexts {
				texts[name] = text
			}
			plain := NewFailure(kind, OriginModel, "", nil)
			plain.Variant, plain.Provider, plain.Model = variant, "anthropic", "anthropic/m"
			plain.Describe(Words{})
			texts["its title"], texts["its title, other case"] = plain.Title, "x: "+strings.ToUpper(plain.Title)+"."
			for name, text := range texts {
				for _, everywhere := range []bool{false, true} {
					f := NewFailure(kind, OriginModel, "", errors.New(text))
					f.Variant, f.Provider, f.Model, f.Tool, f.HTTPStatus, f.Detail = variant, "anthropic", "anthropic/m", "web_search", 400, words.Clip(text, MaxDetail)
					if everywhere {
						f.Provider, f.Model, f.Tool, f.LastStep = text, text, text, text
					}
					f.Describe(Words{Reason: text, EnvVar: text, Spent: text, Budget: text})
					where := string(kind) + "/" + variant + ", " + name
					checkWords(t, where, f)
					checkHostile(t, where, f)
				}
			}
		}
	}
}

var tag = regexp.MustCompile(`<[a-zA-Z/!?]`)

func checkHostile(t *testing.T, name string, f *Failure) {
	t.Helper()
	for _, text := range []string{f.Title, f.Message, f.Short()} {
		if tag.MatchString(text) || strings.Contains(text, "zebra") || strings.Contains(text, "goroutine") || strings.Contains(text, "Traceback") {
			t.Errorf("%s: HTML, a key or a stack is shown: %s", name, text)
		}
		if strings.IndexFunc(text, unicode.IsControl) >= 0 || strings.Contains(text, "  ") {
			t.Errorf("%s: not one line: %q", name, text)
		}
	}
	if strings.Contains(strings.ToLower(f.Message), strings.ToLower(f.Title)) {
		t.Errorf("%s: the message repeats its title: %s", name, f.Line())
	}
}

// TestWordsAreTrue: no text claims something that did not happen.
func TestWordsAreTrue(t *testing.T) {
	turn := NewFailure(KindMaxTurnTime, OriginRunner, PhasePrompt, nil)
	turn.Limit, turn.Elapsed = 2000, 2004
	broken := NewFailure(KindMalformedResponse, OriginModel, PhaseMidStream, nil)
	lost := NewFailure(KindToolFailure, OriginTool, PhaseTool, nil)
	lost.Tool, lost.Variant = "mail", VariantUnknownOutcome
	stopped := *lost
	stopped.Timer, stopped.Limit = TimerTool, 2000
	for _, c := range []struct {
		f    Failure
		w    Words
		want string
	}{
		{*turn, Words{}, "This turn reached its limit of 2 s. No action"},
		{*broken, Words{PartialWords: 1}, "What arrived of it (1 word) is kept until the next attempt."},
		{*broken, Words{}, "It is withdrawn."},
		{*lost, Words{}, "The connection broke after mail was sent."},
		{*lost, Words{Lost: true}, "The program stopped while mail was running."},
		{stopped, Words{}, "It did not end within 2 s and was stopped."},
	} {
		if c.f.Describe(c.w); !strings.Contains(c.f.Line(), c.want) {
			t.Errorf("%q does not say %q", c.f.Line(), c.want)
		}
	}
}

// variantsOf lists the variants for which the kind has words of its own.
func variantsOf(kind Kind) []string {
	var list []string
	for v := range wordings[kind].variant {
		list = append(list, v)
	}
	for v := range reasons[kind] {
		list = append(list, v)
	}
	return list
}

// TestEveryKindHasWords: the fallback wording is only for kinds of newer versions.
func TestEveryKindHasWords(t *testing.T) {
	for _, kind := range Kinds() {
		if w, ok := wordings[kind]; !ok || w.short == "" || w.title == "" {
			t.Errorf("copy.go has no words for %s", kind)
		}
	}
}
