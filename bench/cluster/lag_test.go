package cluster

import (
	"strconv"

	"github.com/mulligan-run/mulligan/timeline/postgres/pgtest"
)

// lag disconnects the standby, begins runs that the standby does not receive, and then makes it
// take over. The runs' owners must append the lost events again.
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

// events is how many events a database has.
func (c *cluster) events(db *pgtest.Own) int {
	c.Helper()
	n, err := strconv.Atoi(c.executeAt(db, "SELECT count(*) FROM mulligan.events"))
	if err != nil {
		c.Error(err)
	}
	return n
}
