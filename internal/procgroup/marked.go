package procgroup

import "time"

// EndMarked kills all Marked processes, and those that they have started meanwhile, for the given
// time at most. It reports whether none is left.
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
