package kill

import (
	"bytes"
	"context"
	"database/sql"
	"path/filepath"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// The faults that are planted into a child, each for one check to find.
const (
	faultEarlyAck     = "acknowledges before it appends"
	faultNoSync       = "does not sync"
	faultLostResult   = "forgets the result of a tool"
	faultUnsafeRepeat = "may repeat what must not be repeated"
	faultEarlyEffect  = "takes effect before the intent is durable"
)

// faultyLog is a log with a planted fault.
type faultyLog struct {
	timeline.Log
	child *child
}

func (f *faultyLog) Append(ctx context.Context, lease timeline.Lease, after uint64, events ...recovery.Event) error {
	c, first := f.child, events[0]
	switch c.plan.Fault {
	case faultEarlyAck:
		c.pipe.events(wordAcked, events...)
	case faultLostResult:
		if first.Type() == "tool_returned" {
			c.pipe.events(wordAcked, events...)
			c.killPoint.at("after tool_returned")
		}
	case faultEarlyEffect:
		if b, ok := first.Body.(recovery.ToolBegan); ok {
			c.pipe.tell(wordBegun, b.Key)
		}
	}
	return f.Log.Append(ctx, lease, after, events...)
}

// withoutSync writes its log with SQLite as the store does, but tells SQLite not to sync.
func (c *child) withoutSync() {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(c.plan.Dir, "unsynced.db")+"?_pragma=journal_mode(wal)&_pragma=synchronous(off)")
	c.check(err)
	_, err = db.ExecContext(c.ctx, "CREATE TABLE events (event BLOB)")
	c.check(err)
	for n := range 20 {
		_, err = db.ExecContext(c.ctx, "INSERT INTO events VALUES (?)", bytes.Repeat([]byte("x"), 100))
		c.check(err)
		c.pipe.events(wordAcked, recovery.Event{Run: "r", Seq: uint64(n) + 1, Body: recovery.CancelRequested{}}) //nolint:gosec // a few
	}
	c.check(db.Close())
}
