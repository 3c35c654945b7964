package recovery

import (
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// checkWords checks what holds for the words of every failure whatever.
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

// TestEveryKindAndVariant says every kind and variant with nothing, something and
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
		{Failure{Kind: KindQuota, Model: "openai/gpt", RetryAfter: 3_600_000, ResetsAt: testNow.Add(time.Hour)}, Words{}, "Usage limit reached for openai/gpt. It resets at 13:00 UTC (in 1 h)."},
		{Failure{Kind: KindAuth, Provider: "anthropic"}, Words{KeyHint: "wxyz"}, "Anthropic rejected the API key. Update the key ending in wxyz, then retry. Retrying with the same key will not help."},
		{Failure{Kind: KindAuth, Variant: "missing", Provider: "anthropic"}, Words{EnvVar: "ANTHROPIC_API_KEY"}, "No API key for Anthropic. Set ANTHROPIC_API_KEY or add a key in settings, then retry."},
		{Failure{Kind: KindStreamInterrupted, Provider: "anthropic"}, Words{PartialWords: 1}, "The answer was cut off. The connection to Anthropic broke after 1 word. They are kept until the next attempt."},
		{Failure{Kind: KindContextOverflow, Model: "m"}, Words{ContextTokens: 213_462, ContextLimit: 200_000}, "This conversation is too long for m. It has about 213,462 tokens and m takes 200,000. Retrying unchanged will not help."},
		{Failure{Kind: KindOverloaded, HTTPStatus: 529}, Words{}, "The provider is overloaded. Its servers are full (529); this is not your usage limit."},
		{Failure{Kind: KindInvalidRequest, Provider: "openai", Detail: "No <b>tool</b> output."}, Words{}, "OpenAI did not accept the request. It said: “No tool output.” Retrying unchanged will not help."},
		{Failure{Kind: KindTimeout, Provider: "anthropic", Limit: 30_000}, Words{}, "Anthropic is not answering. No answer within 30 s. It may be slow or down. Your message is kept."},
	} {
		tt.f.Describe(tt.w)
		if got := tt.f.Line(); got != tt.want {
			t.Errorf("\n got %s\nwant %s", got, tt.want)
		}
	}
}
