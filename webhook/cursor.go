package webhook

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"github.com/mulligan-run/mulligan/internal/wholefile"
	"github.com/mulligan-run/mulligan/timeline"
)

// margin is how much the clocks of those who begin runs may differ, and how long it may take
// until a run that has begun is listed.
const margin = time.Minute

// maxCursors is the most that a file of cursors holds, in bytes.
const maxCursors = 256 << 20

// cursors are how far each run was told of to one receiver.
type cursors struct {
	file string

	mu    sync.Mutex
	dirty bool
	kept
}

// kept is what of them is in the file.
type kept struct {
	Since   time.Time         `json:"since"`   // what happened before that is not told
	Scanned time.Time         `json:"scanned"` // runs that began earlier are known, but for the margin
	Runs    map[string]cursor `json:"runs"`
}

// cursor is how far one run was told of.
type cursor struct {
	Seq   uint64    `json:"seq"`
	Began time.Time `json:"began"`
	Done  bool      `json:"done,omitempty"` // nothing follows
}

// openCursors reads those in a file; found is false where nothing was told yet.
func openCursors(file string) (c *cursors, found bool, err error) {
	c = &cursors{file: file, kept: kept{Runs: map[string]cursor{}}}
	data, err := wholefile.Read(file, maxCursors)
	if errors.Is(err, fs.ErrNotExist) {
		return c, false, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &c.kept)
	}
	if err != nil {
		return nil, false, fmt.Errorf("how far webhooks were told: %w; remove the file to begin anew", err)
	}
	if c.Runs == nil {
		c.Runs = map[string]cursor{}
	}
	return c, true, nil
}

// save writes them where they have changed.
func (c *cursors) save() error {
	c.mu.Lock()
	if !c.dirty {
		c.mu.Unlock()
		return nil
	}
	data, err := json.Marshal(c.kept)
	c.dirty = false
	c.mu.Unlock()
	if err == nil {
		err = wholefile.ReplaceDurably(c.file, data, 0o600)
	}
	if err != nil {
		c.mu.Lock()
		c.dirty = true
		c.mu.Unlock()
	}
	return err
}

// learn adds a run that is not known, told up to seq.
func (c *cursors) learn(s timeline.Summary, seq uint64) (isNew bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, known := c.Runs[s.Run]; known {
		return false
	}
	c.Runs[s.Run], c.dirty = cursor{Seq: seq, Began: s.StartedAt}, true
	return true
}

// move says that a run was told up to seq.
func (c *cursors) move(run string, seq uint64) {
	c.change(run, func(to *cursor) { to.Seq = seq })
}

// finish says that nothing follows in a run.
func (c *cursors) finish(run string) { c.change(run, func(to *cursor) { to.Done = true }) }

func (c *cursors) change(run string, by func(*cursor)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := c.Runs[run]
	by(&at)
	c.Runs[run], c.dirty = at, true
}

// horizon is when a run began that may not be known yet, at the earliest.
func (c *cursors) horizon() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.Scanned.Add(-margin)
}

// scanned says that the runs are known that began until then, and forgets those that are done and
// will not be listed as new any more.
func (c *cursors) scanned(until time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !until.After(c.Scanned) {
		return
	}
	c.Scanned, c.dirty = until, true
	for run, at := range c.Runs {
		if at.Done && at.Began.Before(until.Add(-margin)) {
			delete(c.Runs, run)
		}
	}
}

// open are the runs in which something may follow.
func (c *cursors) open() map[string]uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	open := map[string]uint64{}
	for run, at := range c.Runs {
		if !at.Done {
			open[run] = at.Seq
		}
	}
	return open
}
