package procgroup

import "time"

// blankLooks is how many looks in a row may find nothing but processes without an environment: one
// that is just executing a program has none for some milliseconds, and most others have one.
const blankLooks = 5

// EndMarked kills all Marked processes, and those that they have started meanwhile, for the given
// time at most. It reports whether none is left.
func EndMarked(is func(variable string) bool, most time.Duration) bool {
	deadline := time.Now().Add(most)
	looks := 0 // in a row that killed nothing
	for pause := time.Millisecond; ; pause *= 2 {
		killed, unclear := killMarked(is)
		if looks++; killed {
			looks = 0
		} else if !unclear || looks == blankLooks {
			return true
		}
		left := time.Until(deadline)
		if left <= 0 {
			return !killed
		}
		time.Sleep(min(pause, left))
	}
}
