package failure

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/mulligan-run/mulligan/failure/words"
)

// known is what the {placeholders} of a wording may stand for.
type known struct {
	f      *Failure
	w      *Words
	values map[string]string // those that have been asked for; "" for what is not known
}

func (f *Failure) known(w *Words) known { return known{f, w, map[string]string{}} }

// value gives the value of a placeholder; ok is false if it is not known. A name with a capital
// stands for the form that begins a sentence.
func (k known) value(name string) (value string, ok bool) {
	if value, ok = k.values[name]; ok {
		return value, value != ""
	}
	if read := placeholders[name]; read != nil {
		value = cmp.Or(words.Shown(read(k.f, k.w)), unnamed[name])
		k.values[name] = value
		return value, value != ""
	}
	plain := strings.ToLower(name[:min(len(name), 1)]) + name[min(len(name), 1):]
	if plain == name || unnamed[plain] == "" && plain != "reason" {
		return "", false
	}
	value, ok = k.value(plain)
	switch {
	case !ok:
	case plain == "reason":
		value = words.Sentence(value)
	case strings.HasPrefix(value, "the "), strings.HasPrefix(value, "this "):
		value = words.Capital(value)
	}
	return value, ok
}

// unnamed is what is said of something whose name is not known.
var unnamed = map[string]string{"provider": "the provider", "model": "this model", "tool": "the tool", "proxy": "the proxy"}

// placeholders read the value of each placeholder; "" if it is not known.
var placeholders = map[string]func(*Failure, *Words) string{
	"provider":        (*Failure).providerName,
	"providerName":    (*Failure).providerName, // for sentences in which "the provider" would not do
	"providerMessage": func(f *Failure, _ *Words) string { return quotable(f.Detail) },
	"status":          (*Failure).statusPage,
	"model":           func(f *Failure, _ *Words) string { return words.Clip(words.ModelName(words.Shown(f.Model)), 200) },
	"tool":            func(f *Failure, _ *Words) string { return words.Clip(f.Tool, 100) },
	"httpStatus":      (*Failure).spelledStatus,
	"limit":           func(f *Failure, _ *Words) string { return spelled(f.Limit) },
	"elapsed":         func(f *Failure, _ *Words) string { return spelled(f.Elapsed) },
	"limitElapsed":    (*Failure).limitElapsed,
	"lastStep":        func(f *Failure, _ *Words) string { return words.Clip(f.LastStep, 200) },
	"resetsIn":        func(f *Failure, _ *Words) string { return spelled(f.RetryAfter) },
	"resetsAt":        (*Failure).resetsAt,
	"resetsLater":     (*Failure).resetsLater,
	"keyHint":         func(_ *Failure, w *Words) string { return words.Clip(w.KeyHint, 12) },
	"envVar":          func(_ *Failure, w *Words) string { return words.Clip(w.EnvVar, 100) },
	"setKey":          func(_ *Failure, w *Words) string { return words.Clip(w.SetKey, 300) },
	"proxy":           (*Failure).proxyName,
	"proxySetting":    func(_ *Failure, w *Words) string { return words.Clip(w.ProxySetting, 100) },
	"spent":           func(_ *Failure, w *Words) string { return words.Clip(w.Spent, 100) },
	"budget":          func(_ *Failure, w *Words) string { return words.Clip(w.Budget, 100) },
	"needs":           func(_ *Failure, w *Words) string { return words.Clip(w.Needs, 100) },
	"left":            func(_ *Failure, w *Words) string { return words.Clip(w.Left, 100) },
	"partialWords":    func(_ *Failure, w *Words) string { return words.Counted(int64(w.PartialWords), " words") },
	"theyAre":         func(_ *Failure, w *Words) string { return theyAre(w.PartialWords) },
	"contextTokens":   func(f *Failure, w *Words) string { has, _ := f.overflow(w); return words.Counted(has, "") },
	"contextLimit":    func(f *Failure, w *Words) string { _, takes := f.overflow(w); return words.Counted(takes, "") },
	"rounds":          func(_ *Failure, w *Words) string { return words.Counted(int64(w.Rounds), " rounds") },
	"tokenLimit":      func(_ *Failure, w *Words) string { return words.Counted(int64(w.TokenLimit), "") },
	"reason":          (*Failure).reason,
}

func (f *Failure) providerName(*Words) string {
	return words.Clip(words.ProviderName(f.ProviderEntry()), 100)
}

func (f *Failure) statusPage(*Words) string {
	if entry := f.ProviderEntry(); words.StatusURL(entry) != "" {
		return words.ProviderName(entry) + " status"
	}
	return ""
}

func (f *Failure) spelledStatus(*Words) string {
	if f.HTTPStatus < 300 {
		return ""
	}
	return strconv.Itoa(f.HTTPStatus)
}

func spelled(d Millis) string {
	if d <= 0 {
		return ""
	}
	return words.Duration(d.Duration())
}

func (f *Failure) limitElapsed(*Words) string {
	limit, elapsed := spelled(f.Limit), spelled(f.Elapsed)
	if elapsed == "" || elapsed == limit {
		return limit
	}
	return limit + " (" + elapsed + ")"
}

func (f *Failure) resetsAt(*Words) string {
	if f.ResetsAt.IsZero() {
		return ""
	}
	layout := words.UTCClock
	if f.RetryAfter == 0 || f.RetryAfter > 12*3_600_000 {
		layout = words.UTCDay
	}
	return f.ResetsAt.UTC().Format(layout)
}

// theyAre begins a sentence about so many words.
func theyAre(n int) string {
	if n == 1 {
		return "It is"
	}
	return "They are"
}

// resetsLater is resetsAt where it pays to be told the time.
func (f *Failure) resetsLater(w *Words) string {
	if f.RetryAfter < 2*60_000 {
		return ""
	}
	return f.resetsAt(w)
}

func (f *Failure) proxyName(w *Words) string {
	if w.Proxy == "" {
		return ""
	}
	return "the proxy " + words.Clip(w.Proxy, 280)
}

// overflow is the size of the request, and the most that the model takes: as counted, or as the
// provider says.
func (f *Failure) overflow(w *Words) (has, takes int64) {
	if f.Kind == KindContextOverflow && w.ContextTokens == 0 && w.ContextLimit == 0 {
		return overflowOf(f.Detail)
	}
	return w.ContextTokens, w.ContextLimit
}
