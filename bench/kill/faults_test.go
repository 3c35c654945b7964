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
	faultLies     = "acknowledges before it appends"
	faultCareless = "does not sync"
	faultForgets  = "forgets the result of a tool"
	faultRash     = "may repeat what must not be repeated"
	faultEager    = "takes effect before the intent is durable"
)

// faulty is a log with a fault.
type faulty struct {
	timeline.Log
	child *child
}

func (f *faulty) Append(ctx context.Context, lease timeline.Lease, after uint64, events ...recovery.Event) error {
	c, first := f.child, events[0]
	switch c.plan.Fault {
	case faultLies:
		c.tale.events(wordAcked, events...)
	case faultForgets:
		if first.Type() == "tool_returned" {
			c.tale.events(wordAcked, events...)
			c.trap.at("after tool_returned")
		}
	case faultEager:
		if b, ok := first.Body.(recovery.ToolBegan); ok {
			c.tale.tell(wordBegun, b.Key)
		}
	}
	return f.Log.Append(ctx, lease, after, events...)
}

// careless keeps its log with SQLite as the store does, and tells SQLite not to sync.
func (c *child) careless() {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(c.plan.Dir, "careless.db")+"?_pragma=journal_mode(wal)&_pragma=synchronous(off)")
	c.check(err)
	_, err = db.ExecContext(c.ctx, "CREATE TABLE events (event BLOB)")
	c.check(err)
	for n := range 20 {
		_, err = db.ExecContext(c.ctx, "INSERT INTO events VALUES (?)", bytes.Repeat([]byte("x"), 100))
		c.check(err)
		c.tale.events(wordAcked, recovery.Event{Run: "r", Seq: uint64(n) + 1, Body: recovery.CancelRequested{}}) //nolint:gosec // a few
	}
	c.check(db.Close())
}
