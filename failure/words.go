package failure

import (
	"cmp"
	"strconv"
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
	known := f.placeholders(w)
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
	quoted := f.placeholders(Words{})["providerMessage"]
	f.Detail = ""
	if quoted != "" && strings.Contains(f.Message, quoted) {
		f.Describe(Words{})
	}
}

// Short is the few words that begin a line about a retry: "Anthropic is overloaded".
func (f Failure) Short() string {
	phrases := f.wording(Words{})
	if short, ok := fill(phrases.short, f.placeholders(Words{})); ok {
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

// placeholders gives the values of the {placeholders}; unknown ones are missing.
func (f *Failure) placeholders(w Words) map[string]string {
	known := map[string]string{"provider": "the provider", "model": "this model", "tool": "the tool", "proxy": "the proxy"}
	set := func(name, value string) {
		if value = words.Shown(value); value != "" {
			known[name] = value
		}
	}
	entry := f.ProviderEntry()
	set("provider", words.Clip(words.ProviderName(entry), 100))
	set("providerName", words.Clip(words.ProviderName(entry), 100)) // for sentences in which "the provider" would not do
	set("model", words.Clip(words.ModelName(words.Shown(f.Model)), 200))
	set("tool", words.Clip(f.Tool, 100))
	if words.StatusURL(entry) != "" {
		set("status", words.ProviderName(entry)+" status")
	}
	if f.HTTPStatus >= 300 {
		set("httpStatus", strconv.Itoa(f.HTTPStatus))
	}
	if f.Limit > 0 {
		set("limit", words.Spell(f.Limit.Duration()))
	}
	if f.Elapsed > 0 {
		set("elapsed", words.Spell(f.Elapsed.Duration()))
	}
	set("limitElapsed", known["limit"])
	if known["elapsed"] != "" && known["elapsed"] != known["limit"] {
		set("limitElapsed", known["limit"]+" ("+known["elapsed"]+")")
	}
	set("lastStep", words.Clip(f.LastStep, 200))
	f.timePlaceholders(set)
	set("keyHint", words.Clip(w.KeyHint, 12))
	set("envVar", words.Clip(w.EnvVar, 100))
	set("setKey", words.Clip(w.SetKey, 300))
	if w.Proxy != "" {
		set("proxy", "the proxy "+words.Clip(w.Proxy, 280))
	}
	set("proxySetting", words.Clip(w.ProxySetting, 100))
	set("spent", words.Clip(w.Spent, 100))
	set("budget", words.Clip(w.Budget, 100))
	set("needs", words.Clip(w.Needs, 100))
	set("left", words.Clip(w.Left, 100))
	set("partialWords", words.Counted(int64(w.PartialWords), " words"))
	if f.Kind == KindContextOverflow && w.ContextTokens == 0 && w.ContextLimit == 0 {
		w.ContextTokens, w.ContextLimit = overflowOf(f.Detail)
	}
	set("contextTokens", words.Counted(w.ContextTokens, ""))
	set("contextLimit", words.Counted(w.ContextLimit, ""))
	set("rounds", words.Counted(int64(w.Rounds), " rounds"))
	set("tokenLimit", words.Counted(int64(w.TokenLimit), ""))
	set("providerMessage", quotable(f.Detail))
	set("reason", f.reason(w))
	addCapitals(known)
	return known
}

// addCapitals adds the forms that begin a sentence.
func addCapitals(known map[string]string) {
	for _, name := range []string{"provider", "model", "tool", "proxy", "reason"} {
		if value, ok := known[name]; ok {
			known[words.Capital(name)] = known[name]
			if name == "reason" {
				known["Reason"] = words.Sentence(value)
			} else if strings.HasPrefix(value, "the ") || strings.HasPrefix(value, "this ") {
				known[words.Capital(name)] = words.Capital(value)
			}
		}
	}
}

func (f *Failure) timePlaceholders(set func(name, value string)) {
	if f.RetryAfter > 0 {
		set("resetsIn", words.Spell(f.RetryAfter.Duration()))
	}
	if !f.ResetsAt.IsZero() {
		layout := words.UTCClock
		if f.RetryAfter == 0 || f.RetryAfter > 12*3_600_000 {
			layout = words.UTCDay
		}
		set("resetsAt", f.ResetsAt.UTC().Format(layout))
		if f.RetryAfter >= 2*60_000 {
			set("resetsLater", f.ResetsAt.UTC().Format(layout))
		}
	}
}

// reason is the reason that was given, or the meaning of the variant. For a message that could not
// be sent it is the error itself, which is about the caller's own input.
func (f *Failure) reason(w Words) string {
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
func (s sentence) say(known map[string]string, title string) (string, bool) {
	for _, way := range s {
		text, ok := fill(way, known)
		if text = words.Tidy(text); ok && !strings.Contains(strings.ToLower(text), strings.ToLower(title)) {
			return text, true
		}
	}
	return "", false
}

// fill replaces the {placeholders} with their values; ok is false if one is not known.
func fill(template string, known map[string]string) (string, bool) {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(template, "{")
		b.WriteString(before)
		if !found {
			return b.String(), true
		}
		name, after, _ := strings.Cut(rest, "}")
		word, ok := known[name]
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
