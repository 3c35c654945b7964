package recovery

import "testing"

// Every reason that forbids something in a story has words of its own.
func TestLimitsHaveWords(t *testing.T) {
	seen := map[string]bool{}
	for _, w := range stories(t) {
		for _, e := range events(t, play(t, w()).log) {
			if d, ok := e.Body.(Decided); ok && d.Decision.BlockedBy != "" {
				seen[d.Decision.BlockedBy] = true
			}
		}
	}
	if len(seen) < 5 {
		t.Errorf("the stories know only the limits %v", seen)
	}
	for by := range seen {
		if limits[by] == "" {
			t.Errorf("%s is told by its name", by)
		}
	}
	if got := LimitInWords("a_limit_of_tomorrow"); got != "a limit of tomorrow" {
		t.Error(got)
	}
}
