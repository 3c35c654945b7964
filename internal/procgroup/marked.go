package procgroup

import "time"

// EndMarked kills what is Marked, and again what that has started meanwhile, for the given
// time at the most. It reports whether nothing is left.
func EndMarked(is func(variable string) bool, most time.Duration) bool {
	deadline := time.Now().Add(most)
	for pause := time.Millisecond; killMarked(is); pause *= 2 {
		left := time.Until(deadline)
		if left <= 0 {
			return false
		}
		time.Sleep(min(pause, left))
	}
	return true
}
