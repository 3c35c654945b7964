package mcp

import "time"

// pace says how long things may take.
type pace struct {
	start time.Duration // for a start, until the tools are known
	await time.Duration // for a call to wait for a server that is down
	ping  time.Duration // for an answer to a ping after a call that did not end
	stop  time.Duration // for a server to end when asked to

	relist time.Duration // from a change of the tool list until it is read again

	first, most time.Duration // from a server's end to its next start; the pause doubles
	window      time.Duration // deaths are counted within it, and forgotten after it
	deaths      int           // this many within window make a server count as broken
	rest        time.Duration // how long a broken server is left alone
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
	streak int  // deaths in a row, without a life of a whole window in between
	broken bool // until it has lived for a window
}

// died counts a death after a life of that length. It says how long to wait before the next start,
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
