package proxy

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/wire"
)

// maxSaid bounds the provider's own words in an error, in bytes.
const maxSaid = 1 << 10

// reportOf is f in the form of an error on the caller's wire.
func (d *dialect) reportOf(f *failure.Failure, run string) wire.Report {
	message := f.Line()
	if said := words.Clip(ownWords(f), maxSaid); said != "" && !strings.Contains(message, said) {
		message += " The provider said: “" + said + "”"
	}
	if run != "" {
		message += " (Mulligan, run " + run + ")"
	}
	return d.report(f.Kind, f.HTTPStatus, words.Clip(message, 4<<10))
}

// ownWords are the provider's own words about f, "" if there are none. Without a body a failure's
// detail is what was found out here, and a body that nobody could read is no words.
func ownWords(f *failure.Failure) string {
	cause := f.Unwrap()
	if f.HTTPStatus < 400 || strings.HasPrefix(f.Detail, "{") || cause != nil && words.Plain(cause.Error()) == f.Detail {
		return ""
	}
	return f.Detail
}

// retryAfter is the value of Retry-After, "" where the provider named no time.
func retryAfter(f *failure.Failure, now time.Time) string {
	wait := f.RetryAfter.Duration()
	if reset := f.ResetsAt.Sub(now); wait <= 0 && !f.ResetsAt.IsZero() {
		wait = reset
	}
	if wait <= 0 {
		return ""
	}
	return strconv.FormatInt(int64(math.Ceil(wait.Seconds())), 10)
}

// ofTheCaller reports whether the caller caused a failure; then it gets the provider's own words.
func ofTheCaller(f *failure.Failure) bool {
	switch f.Kind {
	case failure.KindInvalidRequest, failure.KindContextOverflow, failure.KindContentFilter, failure.KindModelNotFound:
		return true
	}
	return false
}
