package cluster

import (
	"strconv"

	"github.com/mulligan-run/mulligan/timeline/postgres/pgtest"
)

// lag cuts the standby off, has runs begin that it does not hear of, and then has it take over: what it lacks is
// appended again by whoever drives the run.
func (c *cluster) lag(hit *member) {
	c.Helper()
	c.standby.Deafen(c.T)
	for i, m := range c.members {
		c.more = append(c.more, c.begin(m, i))
	}
	for _, r := range c.more {
		c.eventually("it speaks", r.speaks)
	}
	if has, lacks := c.events(c.standby), c.events(c.db); has >= lacks {
		c.Errorf("the standby has %d events of %d, and lacks nothing", has, lacks)
	}
	c.failover(hit)
}

// events is how many a database has.
func (c *cluster) events(db *pgtest.Own) int {
	c.Helper()
	n, err := strconv.Atoi(c.executeAt(db, "SELECT count(*) FROM mulligan.events"))
	if err != nil {
		c.Error(err)
	}
	return n
}
