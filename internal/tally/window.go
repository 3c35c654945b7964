package tally

import "time"

// hours is how far back a window reaches.
const hours = 24

// window counts things by name over the last 24 hours, by the hour.
type window struct {
	kept [hours]hour
}

type hour struct {
	at int64 // in hours since 1970
	of map[string]int64
}

func hourOf(t time.Time) int64 { return t.Unix() / int64(time.Hour/time.Second) }

func (w *window) add(name string, at time.Time) {
	h := &w.kept[hourOf(at)%hours]
	if h.at != hourOf(at) || h.of == nil {
		*h = hour{hourOf(at), map[string]int64{}}
	}
	h.of[name]++
}

// sums are the counts by name, of the last 24 hours only.
func (w *window) sums(now time.Time) map[string]int64 {
	sums := map[string]int64{}
	for _, h := range w.kept {
		if age := hourOf(now) - h.at; age < 0 || age >= hours {
			continue
		}
		for name, n := range h.of {
			sums[name] += n
		}
	}
	return sums
}

// since is when the oldest hour of a window begins, or the counting, whichever is later.
func since(began, now time.Time) time.Time {
	oldest := time.Unix((hourOf(now)-hours+1)*int64(time.Hour/time.Second), 0)
	if began.After(oldest) {
		return began
	}
	return oldest
}

// last is the hour of the latest count.
func (w *window) last() time.Time {
	var at int64
	for _, h := range w.kept {
		at = max(at, h.at)
	}
	return time.Unix(at*int64(time.Hour/time.Second), 0)
}
