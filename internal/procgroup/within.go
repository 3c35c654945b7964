package procgroup

import "time"

// Within reports whether the channel, which tells of a process's end or of its output's, is
// closed within the given time; 0 = already.
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
