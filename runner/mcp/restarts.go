package mcp

import "time"

// pace says how much time things get.
type pace struct {
	start time.Duration // for a start, until its tools are known
	await time.Duration // that a call waits for a server that is down
	ping  time.Duration // to show a sign of life after a call that did not end
	stop  time.Duration // to end when it is asked to

	relist time.Duration // from a change of the list of tools until they are asked for

	first, most time.Duration // between a death and the next start, doubling
	window      time.Duration // in which deaths are counted, and after which they are forgiven
	deaths      int           // within it, until the server counts as broken
	rest        time.Duration // that a broken server is left alone
}

var usualPace = pace{
	start: 30 * time.Second, await: 10 * time.Second, ping: 5 * time.Second, stop: 2 * time.Second,
	relist: 500 * time.Millisecond,
	first:  250 * time.Millisecond, most: 30 * time.Second, window: time.Minute, deaths: 5, rest: time.Minute,
}

// restarts says when a server is started again. Its owner guards it.
type restarts struct {
	pace   pace
	recent []time.Time
	streak int  // deaths, none of them after a whole window of life
	broken bool // until it has lived for a window
}

// died notes a death, of a server that had lived for that long, and says how long to wait
// and whether the server is broken.
func (r *restarts) died(now time.Time, lived time.Duration) (wait time.Duration, broken bool) {
	if lived >= r.pace.window {
		r.recent, r.streak, r.broken = nil, 0, false
	}
	for len(r.recent) > 0 && now.Sub(r.recent[0]) >= r.pace.window {
		r.recent = r.recent[1:]
	}
	r.recent = append(r.recent, now)
	r.streak++
	r.broken = r.broken || len(r.recent) >= r.pace.deaths
	if r.broken {
		return r.pace.rest, true
	}
	return min(r.pace.first<<min(r.streak-1, 20), r.pace.most), false
}
