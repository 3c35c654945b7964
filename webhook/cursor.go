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

// margin is by how much the clocks of processes that begin runs may differ, plus the time until
// a new run is listed.
const margin = time.Minute

// maxCursors is the largest file of cursors, in bytes.
const maxCursors = 256 << 20

// cursors say how far each run was reported to one receiver.
type cursors struct {
	file string

	mu    sync.Mutex
	dirty bool
	kept
}

// kept is the part of them that is in the file.
type kept struct {
	Since   time.Time         `json:"since"`   // nothing before this time is reported
	Scanned time.Time         `json:"scanned"` // runs that began earlier are known, apart from the margin
	Runs    map[string]cursor `json:"runs"`
}

// cursor says how far one run was reported.
type cursor struct {
	Seq   uint64    `json:"seq"`
	Began time.Time `json:"began"`
	Done  bool      `json:"done,omitempty"` // nothing follows
}

// openCursors reads the cursors in a file; found is false if there is no file yet.
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
		return nil, false, fmt.Errorf("reading how far webhooks were sent: %w; remove the file to begin anew", err)
	}
	if c.Runs == nil {
		c.Runs = map[string]cursor{}
	}
	return c, true, nil
}

// save writes the cursors if they have changed.
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

// learn adds an unknown run, as reported up to seq.
func (c *cursors) learn(s timeline.Summary, seq uint64) (isNew bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, known := c.Runs[s.Run]; known {
		return false
	}
	c.Runs[s.Run], c.dirty = cursor{Seq: seq, Began: s.StartedAt}, true
	return true
}

// move records that a run was reported up to seq.
func (c *cursors) move(run string, seq uint64) {
	c.change(run, func(to *cursor) { to.Seq = seq })
}

// finish records that nothing follows in a run.
func (c *cursors) finish(run string) { c.change(run, func(to *cursor) { to.Done = true }) }

func (c *cursors) change(run string, by func(*cursor)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := c.Runs[run]
	by(&at)
	c.Runs[run], c.dirty = at, true
}

// horizon is the earliest start of a run that may not be known yet.
func (c *cursors) horizon() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.Scanned.Add(-margin)
}

// scanned records that all runs that began before until are known, and forgets finished ones that
// can no longer be listed as new.
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
