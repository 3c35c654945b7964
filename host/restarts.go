package host

import (
	"math/rand/v2"
	"time"
)

// maxRecent is how many restarts are remembered: no policy allows more.
const maxRecent = 100

// restarts counts how often a plugin is started again. Its owner's mutex guards it.
type restarts struct {
	policy  RestartPolicy // with defaults filled in
	endless bool          // for a service: reconnecting is cheap and never stops
	total   int
	recent  []time.Time
	next    time.Time // the earliest time of the next start
}

func newRestarts(spec Spec) restarts {
	return restarts{policy: spec.Restart.orDefaults(), endless: spec.Address != ""}
}

// ended records that a process ended or did not start, and draws the next backoff: up
// to a quarter longer than its step, so that many hosts do not come back at once.
func (r *restarts) ended(now time.Time) {
	for len(r.recent) > 0 && now.Sub(r.recent[0]) > r.policy.Window {
		r.recent = r.recent[1:]
	}
	step := min(r.policy.First<<min(len(r.recent), 20), r.policy.Most)
	r.next = now.Add(step + rand.N(step/4+1))
}

// spent reports whether the window allows no further restart.
func (r *restarts) spent(now time.Time) bool {
	return !r.endless && len(r.recent) >= r.policy.Max && now.Sub(r.recent[len(r.recent)-r.policy.Max]) <= r.policy.Window
}

// until is how long it stays spent.
func (r *restarts) until(now time.Time) time.Duration {
	return r.policy.Window - now.Sub(r.recent[len(r.recent)-r.policy.Max])
}

func (r *restarts) begin(now time.Time) {
	r.total++
	if r.recent = append(r.recent, now); len(r.recent) > maxRecent {
		r.recent = r.recent[1:]
	}
}
