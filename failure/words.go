package failure

import (
	"cmp"
	"strings"

	"github.com/mulligan-run/mulligan/failure/words"
)

// MaxMessage is the most that a title and a message hold together, in bytes.
const MaxMessage = 4 << 10

// Words holds what a sentence may mention and a Failure does not hold. Zero fields are not
// mentioned.
type Words struct {
	KeyHint       string // the last characters of the key that was sent
	EnvVar        string // the variable that would hold a key
	SetKey        string // a sentence that says how to set a missing key
	PartialWords  int    // of the partial text
	ContextTokens int64  // the size of the request
	ContextLimit  int64  // the most that the model takes
	TokenLimit    int    // the output limit
	Rounds        int    // model calls that asked for tools
	Spent, Budget string // "12,000 tokens", "$1.20"
	Needs, Left   string // what the next call needs, and what is left of a budget that is not used up
	Proxy         string // host and port of the proxy on the way to the provider
	ProxySetting  string // where that proxy is set: "HTTPS_PROXY"
	Lost          bool   // the process stopped in the middle of the tool call
	Unanswered    bool   // another program was to make the tool call and gave no result in time
	Reason        string // one sentence, or a few words; no secret and no stack
}

// Describe sets Title and Message to what people are told about f. Neither contains HTML or an
// unfilled placeholder. The message does not repeat the title.
func (f *Failure) Describe(w Words) {
	known := f.known(&w)
	phrases := f.wording(w)
	title, ok := fill(phrases.title, known)
	if !ok {
		title = cmp.Or(plainTitles[f.Kind], "The call failed")
	}
	f.Title = words.Clip(words.Tidy(title), 300)
	var said []string
	for _, s := range phrases.message {
		if text, ok := s.say(known, f.Title); ok {
			said = append(said, text)
		}
	}
	f.Message = words.Clip(cmp.Or(strings.Join(said, " "), "The details may say more."), MaxMessage-len(f.Title))
}

// Unquote removes the provider's own words from f's detail and message, since they may quote the
// conversation.
func (f *Failure) Unquote() {
	quoted, _ := f.known(&Words{}).value("providerMessage")
	f.Detail = ""
	if quoted != "" && strings.Contains(f.Message, quoted) {
		f.Describe(Words{})
	}
}

// Short is the few words that begin a line about a retry: "Anthropic is overloaded".
func (f Failure) Short() string {
	phrases := f.wording(Words{})
	if short, ok := fill(phrases.short, f.known(&Words{})); ok {
		return words.Tidy(short)
	}
	return cmp.Or(plainTitles[f.Kind], "The call failed")
}

// wording is that of f's kind, overlaid by that of its variant.
func (f *Failure) wording(w Words) wording {
	base, ok := wordings[f.Kind]
	if !ok {
		base = wordings[KindUnknown]
	}
	if f.Variant == VariantCooling {
		return coolingWording(base.short)
	}
	v, ok := base.variant[f.variantOf(w)]
	if !ok {
		return base
	}
	if v.short == "" {
		v.short = cmp.Or(v.title, base.short)
	}
	v.title = cmp.Or(v.title, base.title)
	if v.message == nil {
		v.message = base.message
	}
	return v
}

// variantOf names the variant whose wording f gets.
func (f *Failure) variantOf(w Words) string {
	name := f.Variant
	switch {
	case f.Kind == KindStreamInterrupted && name == "" && f.IsIdle(),
		f.Kind == KindTimeout && name == "" && f.Phase == PhaseMidStream && f.IsIdle():
		name = "stalled"
	case f.Kind == KindToolFailure && name == VariantUnknownOutcome && w.Unanswered:
		name = variantUnanswered
	case f.Kind == KindToolFailure && name == VariantUnknownOutcome && f.Timer == TimerTool:
		name = variantStopped
	case f.Kind == KindToolFailure && name == VariantUnknownOutcome && w.Lost:
		name = variantLost
	case f.Kind == KindBudget && w.Needs != "" && (name == VariantDayTokens || name == VariantDayMoney):
		name = variantTooSmallToday
	case f.Kind == KindBudget && w.Needs != "":
		name = variantTooSmall
	case f.Kind == KindContentFilter && name == "" && (f.Phase == PhaseMidStream || f.Phase == PhaseEndOfStream):
		name = "output"
	}
	return name
}

// reason is the reason that was given, or the meaning of the variant. For a message that could not
// be sent it is the error itself, which is about the caller's own input.
func (f *Failure) reason(w *Words) string {
	switch {
	case w.Reason != "":
		return words.Clip(w.Reason, 300)
	case reasons[f.Kind][f.Variant] != "":
		return reasons[f.Kind][f.Variant]
	case f.Kind == KindPromptFailure && f.cause != nil:
		return quotable(f.cause.Error())
	}
	return ""
}

// say gives the first version of s whose placeholders are all known and which does not repeat the
// title, as a provider's own words may.
func (s sentence) say(known known, title string) (string, bool) {
	for _, way := range s {
		text, ok := fill(way, known)
		if !ok {
			continue
		}
		if text = words.Tidy(text); !strings.Contains(strings.ToLower(text), strings.ToLower(title)) {
			return text, true
		}
	}
	return "", false
}

// fill replaces the {placeholders} with their values; ok is false if one is not known.
func fill(template string, known known) (string, bool) {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(template, "{")
		if !found && b.Len() == 0 {
			return template, true
		}
		b.WriteString(before)
		if !found {
			return b.String(), true
		}
		name, after, _ := strings.Cut(rest, "}")
		word, ok := known.value(name)
		if !ok {
			return "", false
		}
		b.WriteString(word)
		template = after
	}
}

// quotable is the first of the provider's words, short enough to quote in a line.
func quotable(text string) string {
	text = words.Shown(words.Clip(text, 1024))
	if strings.ContainsAny(text, "{}") {
		return "" // a document, not words
	}
	return words.Clip(text, 300)
}
