package recovery

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxMessage is the most that a title and message hold together, in bytes.
const MaxMessage = 4 << 10

// Words is what a sentence may mention and a Failure does not hold. What is zero is not
// mentioned.
type Words struct {
	KeyHint       string // the last characters of the key that was used
	EnvVar        string // the variable that would hold a key
	SetKey        string // a sentence that says how to set a key that is not there
	PartialWords  int    // of the text that had arrived
	ContextTokens int64  // that the request has
	ContextLimit  int64  // that the model takes
	TokenLimit    int    // of the output
	Rounds        int    // model calls that asked for tools
	Spent, Budget string // "12,000 tokens", "$1.20"
	Needs, Left   string // by the next call, and of the budget where that is not used up
	Lost          bool   // the program stopped in the middle of the tool call
	Reason        string // one sentence, or a few words; no secret and no stack
}

// Describe fills Title and Message with what people are told about f. Neither ever
// holds HTML or the hole of a word that is not known; the message does not repeat the title.
func (f *Failure) Describe(w Words) {
	known := f.placeholders(w)
	words := f.wording(w)
	title, ok := fill(words.title, known)
	if !ok {
		title = orElse(plainTitles[f.Kind], "The call failed")
	}
	f.Title = Clip(tidy(title), 300)
	var said []string
	for _, s := range words.message {
		if text, ok := s.say(known, f.Title); ok {
			said = append(said, text)
		}
	}
	f.Message = Clip(orElse(strings.Join(said, " "), "The details may say more."), MaxMessage-len(f.Title))
}

// Short is the few words that begin the line of a retry: "Anthropic is overloaded".
func (f Failure) Short() string {
	words := f.wording(Words{})
	if short, ok := fill(words.short, f.placeholders(Words{})); ok {
		return tidy(short)
	}
	return orElse(plainTitles[f.Kind], "The call failed")
}

// wording is that of f's kind, with its variant's in place where it has one.
func (f *Failure) wording(w Words) wording {
	base, ok := wordings[f.Kind]
	if !ok {
		base = wordings[KindUnknown]
	}
	v, ok := base.variant[f.variantOf(w)]
	if !ok {
		return base
	}
	if v.short == "" {
		v.short = orElse(v.title, base.short)
	}
	v.title = orElse(v.title, base.title)
	if v.message == nil {
		v.message = base.message
	}
	return v
}

// variantOf names the variant whose words f has.
func (f *Failure) variantOf(w Words) string {
	name := f.Variant
	switch {
	case f.Kind == KindStreamInterrupted && name == "" && f.idle(),
		f.Kind == KindTimeout && name == "" && f.Phase == PhaseMidStream && f.idle():
		name = "stalled"
	case f.Kind == KindToolFailure && name == variantUnknownOutcome && f.Timer == TimerTool:
		name = variantStopped
	case f.Kind == KindToolFailure && name == variantUnknownOutcome && w.Lost:
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

// placeholders gives the words for the {placeholders}; what is not known is not in it.
func (f *Failure) placeholders(w Words) map[string]string {
	known := map[string]string{"provider": "the provider", "model": "this model", "tool": "the tool"}
	set := func(name, value string) {
		if value = Shown(value); value != "" {
			known[name] = value
		}
	}
	entry := f.providerOf()
	set("provider", Clip(ProviderName(entry), 100))
	set("model", Clip(f.Model, 200))
	set("tool", Clip(f.Tool, 100))
	if StatusURL(entry) != "" {
		set("status", ProviderName(entry)+" status")
	}
	if f.HTTPStatus >= 300 {
		set("httpStatus", strconv.Itoa(f.HTTPStatus))
	}
	if f.Limit > 0 {
		set("limit", Spell(f.Limit.Duration()))
	}
	if f.Elapsed > 0 {
		set("elapsed", Spell(f.Elapsed.Duration()))
	}
	set("limitElapsed", known["limit"])
	if known["elapsed"] != "" && known["elapsed"] != known["limit"] {
		set("limitElapsed", known["limit"]+" ("+known["elapsed"]+")")
	}
	set("lastStep", Clip(f.LastStep, 200))
	f.timePlaceholders(set)
	set("keyHint", Clip(w.KeyHint, 12))
	set("envVar", Clip(w.EnvVar, 100))
	set("setKey", Clip(w.SetKey, 300))
	set("spent", Clip(w.Spent, 100))
	set("budget", Clip(w.Budget, 100))
	set("needs", Clip(w.Needs, 100))
	set("left", Clip(w.Left, 100))
	set("partialWords", counted(int64(w.PartialWords), " words"))
	if f.Kind == KindContextOverflow && w.ContextTokens == 0 && w.ContextLimit == 0 {
		w.ContextTokens, w.ContextLimit = overflowOf(f.Detail)
	}
	set("contextTokens", counted(w.ContextTokens, ""))
	set("contextLimit", counted(w.ContextLimit, ""))
	set("rounds", counted(int64(w.Rounds), " rounds"))
	set("tokenLimit", counted(int64(w.TokenLimit), ""))
	set("providerMessage", quotable(f.Detail))
	set("reason", f.reason(w))
	for _, name := range []string{"provider", "model", "tool", "reason"} {
		if value, ok := known[name]; ok {
			known[capital(name)] = known[name]
			if name == "reason" {
				known["Reason"] = sentenceOf(value)
			} else if strings.HasPrefix(value, "the ") || strings.HasPrefix(value, "this ") {
				known[capital(name)] = capital(value)
			}
		}
	}
	return known
}

func (f *Failure) timePlaceholders(set func(name, value string)) {
	if f.RetryAfter > 0 {
		set("resetsIn", Spell(f.RetryAfter.Duration()))
	}
	if !f.ResetsAt.IsZero() {
		layout := utcClock
		if f.RetryAfter == 0 || f.RetryAfter > 12*3_600_000 {
			layout = utcDay
		}
		set("resetsAt", f.ResetsAt.UTC().Format(layout))
	}
}

// reason is what somebody said, or what the variant means; of a message that could not
// be sent it is the error itself, which is about the caller's own input.
func (f *Failure) reason(w Words) string {
	switch {
	case w.Reason != "":
		return Clip(w.Reason, 300)
	case reasons[f.Kind][f.Variant] != "":
		return reasons[f.Kind][f.Variant]
	case f.Kind == KindPromptFailure && f.cause != nil:
		return quotable(f.cause.Error())
	}
	return ""
}

// say gives the first way of saying s whose words are all known, and which does not
// repeat the title: a provider's own words may.
func (s sentence) say(known map[string]string, title string) (string, bool) {
	for _, way := range s {
		text, ok := fill(way, known)
		if text = tidy(text); ok && !strings.Contains(strings.ToLower(text), strings.ToLower(title)) {
			return text, true
		}
	}
	return "", false
}

// fill puts words in the place of {placeholders}; it is false where one is not known.
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

// quotable is the first of the provider's words, short enough to be quoted in a line.
func quotable(text string) string {
	text = Shown(Clip(text, 1024))
	if strings.ContainsAny(text, "{}") {
		return "" // a document, not words
	}
	return Clip(text, 300)
}

// tidy makes text one line of valid UTF-8 without control characters.
func tidy(text string) string {
	if isTidy(text) {
		return text
	}
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	return strings.Join(strings.Fields(text), " ")
}

// isTidy knows most of the text that is tidy already.
func isTidy(text string) bool {
	before := byte(' ')
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c < ' ' || c >= 0x7f || c == ' ' && before == ' ' {
			return false
		}
		before = c
	}
	return before != ' '
}

// sentenceOf begins with a capital and ends with a full stop.
func sentenceOf(text string) string {
	text = capital(text)
	if !strings.HasSuffix(text, ".") && !strings.HasSuffix(text, "!") && !strings.HasSuffix(text, "?") && !strings.HasSuffix(text, "…") {
		text += "."
	}
	return text
}

func capital(text string) string {
	r, size := utf8.DecodeRuneInString(text)
	if size == 0 {
		return text
	}
	return string(unicode.ToUpper(r)) + text[size:]
}

// counted is 1 → "1 word", 12000 → "12,000 words", 0 → "".
func counted(n int64, unit string) string {
	if n <= 0 {
		return ""
	}
	if n == 1 {
		return "1" + strings.TrimSuffix(unit, "s")
	}
	return SpellCount(n) + unit
}
