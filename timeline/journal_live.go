package timeline

import (
	"context"
	"time"
)

// SaveTail is Log.SaveTail.
func (j *Journal) SaveTail(ctx context.Context, l Lease, t Tail) error {
	return j.store.SaveTail(ctx, l, t)
}

// LoadTail is Log.LoadTail.
func (j *Journal) LoadTail(ctx context.Context, run string) (Tail, error) {
	if t, ok := j.feed.Tail(run); ok {
		return t, nil
	}
	return j.store.LoadTail(ctx, run)
}

// watch tells the feed what other processes wrote, while anybody follows a run. What cannot be read
// is tried again next time.
func (j *Journal) watch(ctx context.Context, shared Shared) {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	var rings <-chan []string
	if bell, ok := shared.(Doorbell); ok {
		rings = bell.Rings()
	}
	next := ticker.C // nil while nobody follows a run
	for {
		var named []string
		select {
		case <-ctx.Done():
			return
		case <-j.feed.listening:
			next = ticker.C
			continue
		case <-next:
		case named = <-rings:
		}
		all := len(named) == 0
		switch runs := j.feed.Runs(named...); {
		case len(runs) > 0:
			j.look(ctx, shared, runs, all)
		case all:
			j.elsewhere.saw(nil, nil, true)
			next = nil
		}
	}
}

// look tells the feed how far runs have got; all says that these are all runs with listeners.
func (j *Journal) look(ctx context.Context, shared Shared, runs []string, all bool) {
	moved, news, err := shared.Moved(ctx, runs)
	if err != nil || !news {
		return
	}
	j.elsewhere.saw(runs, moved, all)
	gone := make(map[string]bool, len(runs))
	for _, run := range runs {
		gone[run] = true
	}
	for _, m := range moved {
		delete(gone, m.Run)
		if j.feed.Lacks(m.Run, m.Attempt, m.Said) {
			if t, err := j.store.LoadTail(ctx, m.Run); err == nil {
				j.feed.Heard(m.Run, t)
			}
		}
		j.feed.Moved(m.Run, m.Seq, m.Inbox)
	}
	for run := range gone {
		j.feed.Deleted(run)
	}
}
