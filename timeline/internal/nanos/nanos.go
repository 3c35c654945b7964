package nanos

import "time"

// Of is t as it is stored. A time outside of 1678–2261 does not fit and becomes 0, none.
func Of(t time.Time) int64 {
	if y := t.Year(); y < 1678 || y > 2261 {
		return 0
	}
	return t.UnixNano()
}

// Time is what Of was given, in UTC.
func Time(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}
