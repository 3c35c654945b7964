package runner

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
)

const (
	foldPage    = 1024     // events read at a time
	recallWorth = 4096     // events that a reader had to fold for the result to be worth keeping
	recallMost  = 8        // results that are kept
	recallBytes = 32 << 20 // their size together
)

// recall keeps the states of long runs that have no snapshot in the store. Only a run's owner saves
// snapshots. A process that imported a run, or that looks at a run of another process, would
// otherwise fold all of it for every look.
type recall struct {
	mu   sync.Mutex
	kept []recalled // the most recently used last
}

type recalled struct {
	run  string
	seq  uint64
	at   time.Time // of that event, to recognise it
	data []byte
}

// keep keeps the state of run in place of an older one.
func (c *recall) keep(run *recovery.Run) {
	data, err := run.Snapshot(false)
	if err != nil || len(data) > recallBytes {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kept = slices.DeleteFunc(c.kept, func(k recalled) bool { return k.run == run.ID })
	c.kept = append(c.kept, recalled{run: run.ID, seq: run.Seq, at: run.Last, data: data})
	sum := 0
	for _, k := range c.kept {
		sum += len(k.data)
	}
	for len(c.kept) > recallMost || sum > recallBytes {
		sum -= len(c.kept[0].data)
		c.kept = slices.Delete(c.kept, 0, 1)
	}
}

// find gives what was kept of a run.
func (c *recall) find(run string) (recalled, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.kept, func(k recalled) bool { return k.run == run })
	if i < 0 {
		return recalled{}, false
	}
	found := c.kept[i]
	c.kept = append(slices.Delete(c.kept, i, i+1), found)
	return found, true
}

// recalled gives a kept state of the run that is after event after and not after event seq (0 =
// any), if the log still has the same event there.
func (r *Runner) recalled(ctx context.Context, id string, after, seq uint64) (*recovery.Run, bool) {
	k, ok := r.recall.find(id)
	if !ok || k.seq <= after || seq > 0 && k.seq > seq {
		return nil, false
	}
	events, err := r.log.Read(ctx, id, k.seq-1, 1)
	if err != nil || len(events) == 0 || !events[0].Time.Equal(k.at) {
		return nil, false
	}
	run, ok := recovery.Restore(k.data)
	return run, ok && run.ID == id && run.Seq == k.seq
}
