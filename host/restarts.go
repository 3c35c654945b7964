package host

import "time"

// How often a plugin is started again.
const (
	backoffFirst  = 250 * time.Millisecond
	backoffMost   = 5 * time.Second
	restartWindow = 10 * time.Minute
	maxRestarts   = 3 // in the window; the next one disables the plugin
)

// restarts counts them. Its owner guards it.
type restarts struct {
	total  int
	recent []time.Time
	next   time.Time // not before
}

// ended notes that a process ended or did not start, and draws the next backoff.
func (r *restarts) ended(now time.Time) {
	for len(r.recent) > 0 && now.Sub(r.recent[0]) > restartWindow {
		r.recent = r.recent[1:]
	}
	r.next = now.Add(min(backoffFirst<<len(r.recent), backoffMost))
}

// spent reports whether the window holds no further restart.
func (r *restarts) spent(now time.Time) bool {
	return len(r.recent) >= maxRestarts && now.Sub(r.recent[len(r.recent)-maxRestarts]) <= restartWindow
}

// until says how long it stays spent.
func (r *restarts) until(now time.Time) time.Duration {
	return restartWindow - now.Sub(r.recent[len(r.recent)-maxRestarts])
}

func (r *restarts) begin(now time.Time) {
	r.total++
	r.recent = append(r.recent, now)
}
