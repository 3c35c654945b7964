package host

import "time"

// When a plugin that fails is left alone.
const (
	breakAfter = 3 // failures in a row
	openFirst  = time.Minute
	openMost   = 10 * time.Minute
)

// breaker is a circuit breaker. Its owner guards it.
type breaker struct {
	failures int
	openFor  time.Duration // 0 = closed
	until    time.Time     // when one probe may pass
	probing  bool
}

// allow reports whether a call may be made; a call that was allowed is reported to
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

func (b *breaker) succeeded() { *b = breaker{} }

func (b *breaker) failed(now time.Time) {
	b.failures++
	switch {
	case b.probing:
		b.openFor = min(2*b.openFor, openMost)
	case b.openFor == 0 && b.failures >= breakAfter:
		b.openFor = openFirst
	default:
		return
	}
	b.probing, b.until = false, now.Add(b.openFor)
}

// abandoned: the call says nothing about the plugin.
func (b *breaker) abandoned() { b.probing = false }

func (b *breaker) open(now time.Time) bool { return b.openFor > 0 && now.Before(b.until) }
