package health

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mulligan-run/mulligan/failure"
)

// How long a cooldown lasts.
const (
	firstCooldown = 30 * time.Second
	mostCooldown  = time.Hour // unless the provider asks for more
	// mostAsked is long enough for a monthly window; a provider that asks for more gets this.
	mostAsked = 31 * 24 * time.Hour
	// forgetAfter is how long after a cooldown its failures in a row are remembered.
	forgetAfter = 24 * time.Hour
)

// Limits on what is remembered.
const (
	maxRecords = 1000
	maxName    = 512 // bytes
)

// record is one cooldown, running or over.
type record struct {
	Kind     failure.Kind `json:"kind"`
	Until    time.Time    `json:"until"`
	Failures int          `json:"failures"` // in a row

	version   int64 // in the Store
	unwritten bool  // not yet in the Store
}

// records are the cooldowns by scope: a model's full name, an entry's name, or the name of an
// engine's provider, as in "pi/anthropic/", with a final slash that distinguishes it from a model
// of that name.
type records map[string]record

// scopeOf is the narrowest scope that f says something about; false if there is none.
func scopeOf(model string, f failure.Failure) (string, bool) {
	if f.Timer != "" || entryOf(model) == "" || len(model) > maxName || !utf8.ValidString(model) {
		return "", false
	}
	switch f.Kind {
	case failure.KindRateLimit, failure.KindOverloaded, failure.KindModelNotFound:
		return model, true
	case failure.KindQuota, failure.KindAuth, failure.KindBilling:
		return accountOf(model, f), true
	}
	return "", false
}

// accountOf is the scope of the account that was asked: the entry or, if that is an engine with
// providers of its own, the provider that failed. Only with an engine does a failure name a
// provider other than the entry: "openrouter/anthropic/claude" is OpenRouter's account.
func accountOf(model string, f failure.Failure) string {
	if own := innerOf(model); f.Provider != entryOf(model) && own == entryOf(model)+"/"+f.Provider+"/" {
		return own
	}
	return entryOf(model)
}

// innerOf is the scope of the provider of an engine's model; "" if the name contains none.
func innerOf(model string) string {
	entry, rest, _ := strings.Cut(model, "/")
	if provider, _, ok := strings.Cut(rest, "/"); ok && provider != "" {
		return entry + "/" + provider + "/"
	}
	return ""
}

// scopesOf are the scopes that a model belongs to: itself, its entry, and the provider within the
// entry. The last one has records only if the entry is an engine.
func scopesOf(model string) []string {
	scopes := []string{model, entryOf(model)}
	if own := innerOf(model); own != "" {
		scopes = append(scopes, own)
	}
	return scopes
}

// failed is r after another failure.
func (r record) failed(f failure.Failure, at time.Time) record {
	if !at.Before(r.Until) { // a call that was already in flight says nothing new
		r.Failures = min(r.Failures+1, maxRecords)
	}
	if until := at.Add(max(backoff(r.Failures), asked(f, at))).UTC().Round(0); until.After(r.Until) {
		r.Until, r.Kind = until, f.Kind
	}
	return r
}

// covered reports whether a record of a wider scope says the same as r, and for as long.
func (rs records) covered(scope string, r record) bool {
	return slices.ContainsFunc(scopesOf(scope)[1:], func(around string) bool {
		o, ok := rs[around]
		return ok && around != scope && o.Kind == r.Kind && !o.Until.Before(r.Until)
	})
}

// backoff is the cooldown after a number of failures in a row.
func backoff(failures int) time.Duration {
	const doublings = 7 // 30 s · 2⁷ is more than an hour
	return min(firstCooldown<<min(failures-1, doublings), mostCooldown)
}

// asked is how long the provider itself asks to be left alone.
func asked(f failure.Failure, at time.Time) time.Duration {
	wait := f.RetryAfter.Duration()
	if !f.ResetsAt.IsZero() {
		wait = max(wait, f.ResetsAt.Sub(at))
	}
	return min(wait, mostAsked)
}

// prune forgets records that ended long ago and, if there are too many, those that end first.
func (rs records) prune(at time.Time) {
	maps.DeleteFunc(rs, func(_ string, r record) bool { return r.Until.Add(forgetAfter).Before(at) })
	rs.keep(maxRecords)
}

func (rs records) keep(n int) {
	if len(rs) <= n {
		return
	}
	scopes := slices.SortedFunc(maps.Keys(rs), func(a, b string) int {
		return cmp.Or(rs[b].Until.Compare(rs[a].Until), cmp.Compare(a, b))
	})
	for _, scope := range scopes[n:] {
		delete(rs, scope)
	}
}

// merge adds the records of others; of two for the same scope the one that ends later counts.
func (rs records) merge(others records) {
	for scope, o := range others {
		if mine, ok := rs[scope]; !ok || o.Until.After(mine.Until) {
			rs[scope] = o
		}
	}
}
