package procgroup

import "time"

// Within reports whether the channel, which signals the end of a process or of its output,
// is closed within the given time; 0 = whether it is closed already.
func Within(done <-chan struct{}, most time.Duration) bool {
	select {
	case <-done:
		return true
	default:
	}
	select {
	case <-done:
		return true
	case <-time.After(most):
		return false
	}
}
