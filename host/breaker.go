package host

import "time"

// breaker is a circuit breaker. Its owner's mutex guards it.
type breaker struct {
	policy   BreakerPolicy // with defaults filled in
	failures int
	openFor  time.Duration // 0 = closed
	until    time.Time     // when one trial call may pass
	probing  bool
}

func newBreaker(p BreakerPolicy) breaker { return breaker{policy: p.orDefaults()} }

// allow reports whether a call may be made. Every allowed call must be followed by
// succeeded, failed or abandoned.
func (b *breaker) allow(now time.Time) bool {
	if b.openFor == 0 {
		return true
	}
	if b.probing || now.Before(b.until) {
		return false
	}
	b.probing = true
	return true
}

func (b *breaker) succeeded() { *b = breaker{policy: b.policy} }

func (b *breaker) failed(now time.Time) {
	b.failures++
	switch {
	case b.probing:
		b.openFor = min(2*b.openFor, b.policy.Most)
	case b.openFor == 0 && b.failures >= b.policy.After:
		b.openFor = b.policy.Open
	default:
		return
	}
	b.probing, b.until = false, now.Add(b.openFor)
}

// abandoned ends a call that says nothing about the plugin.
func (b *breaker) abandoned() { b.probing = false }

func (b *breaker) open(now time.Time) bool { return b.openFor > 0 && now.Before(b.until) }

func (b *breaker) state(now time.Time) string {
	switch {
	case b.openFor == 0:
		return BreakerClosed
	case b.open(now):
		return BreakerOpen
	}
	return BreakerHalfOpen
}
