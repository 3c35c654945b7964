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
	if said := words.Clip(f.Detail, maxSaid); said != "" && f.HTTPStatus >= 400 && !strings.HasPrefix(said, "{") && !strings.Contains(message, said) {
		message += " The provider said: “" + said + "”"
	}
	if run != "" {
		message += " (Mulligan, run " + run + ")"
	}
	return d.report(f.Kind, f.HTTPStatus, words.Clip(message, 4<<10))
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
