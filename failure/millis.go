package failure

import "time"

// Millis is a duration in milliseconds, the unit of every stored and sent
// duration. Zero means "none" or "off", as the field says.
type Millis int64

// MaxDelay is the longest delay that is believed; a longer one is taken for a mistake.
const MaxDelay = Millis(7 * 24 * 3_600_000)

// InMillis converts d, rounding up so that a positive delay never becomes 0.
func InMillis(d time.Duration) Millis {
	if d <= 0 {
		return Millis(d / time.Millisecond)
	}
	return Millis((d-1)/time.Millisecond) + 1
}

// Duration converts m; the result saturates instead of overflowing.
func (m Millis) Duration() time.Duration {
	const most = Millis(1<<63-1) / Millis(time.Millisecond)
	switch {
	case m > most:
		return 1<<63 - 1
	case m < -most:
		return -1 << 63
	}
	return time.Duration(m) * time.Millisecond
}
