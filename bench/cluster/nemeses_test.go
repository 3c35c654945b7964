package cluster

import (
	"context"
	"fmt"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/mulligan-run/mulligan/timeline/postgres/pgtest"
)

// nemesis is a fault of a cluster.
type nemesis struct {
	name   string
	before func(c *cluster) // prepares it before the runs begin; nil = nothing
	// strikes the member that drives the first run, and returns when the fault is over.
	strikes func(c *cluster, hit *member)
	// moves says that another member takes over the runs of the member that was hit.
	moves bool
	least time.Duration    // how long another member waits at least before it claims the first run
	ends  bool             // the process of the member that was hit has ended
	after func(c *cluster) // cleans up once all runs have ended; nil = nothing
	long  bool             // only make cluster plays it
}

var nemeses = []nemesis{
	{name: "kill", strikes: func(_ *cluster, hit *member) { hit.signal(syscall.SIGKILL) }, moves: true, least: lease - 2*time.Second, ends: true},
	{name: "term", strikes: func(_ *cluster, hit *member) { hit.signal(syscall.SIGTERM) }, moves: true, ends: true},
	{name: "stop", strikes: func(_ *cluster, hit *member) {
		hit.signal(syscall.SIGSTOP)
		time.Sleep(lease + 4*time.Second)
		hit.signal(syscall.SIGCONT)
	}, moves: true},
	{name: "partition", strikes: func(_ *cluster, hit *member) {
		hit.link.cut()
		time.Sleep(lease + 4*time.Second)
		hit.link.heal()
	}, moves: true},
	{name: "reset", strikes: func(_ *cluster, hit *member) {
		for range 5 {
			hit.link.reset()
			time.Sleep(200 * time.Millisecond)
		}
	}},
	{name: "database", strikes: func(c *cluster, _ *member) {
		c.db.Crash()
		time.Sleep(time.Second)
		if err := c.db.Start(); err != nil {
			c.Error(err)
		}
	}},
	{name: "all", strikes: func(c *cluster, _ *member) { c.everyOne(syscall.SIGKILL) }, moves: true, long: true},
	{name: "roll", strikes: func(c *cluster, hit *member) { c.inTurn(hit, (*member).again) }, moves: true, long: true},
	// Writes succeed, but the member never learns it.
	{name: "deaf", strikes: func(_ *cluster, hit *member) {
		hit.link.deafen()
		time.Sleep(lease + 4*time.Second)
		hit.link.reset()
		hit.link.heal()
	}, moves: true, long: true},
	// One append in three is refused for a while.
	{name: "errors", strikes: func(c *cluster, _ *member) { c.refusing(lease+2*time.Second, 0.33, "40001", "40P01", "57014") }, long: true},
	// All appends are refused, as when the disk is full.
	{name: "full", strikes: func(c *cluster, _ *member) { c.refusing(lease+2*time.Second, 1, "53100") }, long: true},
	// Writes are delayed for longer than the statement timeout.
	{name: "slow", strikes: func(c *cluster, _ *member) {
		c.execute("BEGIN; LOCK TABLE mulligan.events, mulligan.tails IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(6); COMMIT")
	}, long: true},
	// All of the server's remaining connections are taken.
	{name: "crowd", strikes: (*cluster).crowd, long: true},
	// The standby takes over, and later the old primary returns at the database's address.
	{name: "failover", before: func(c *cluster) { c.standby = c.db.Standby(c.whole) }, strikes: (*cluster).failover, long: true},
	// The same with a standby that lacks the last writes.
	{name: "lag", before: func(c *cluster) { c.standby = c.db.Behind(c.whole) }, strikes: (*cluster).lag, long: true},
	// The same with a standby whose clock is 10 s fast, or 10 s slow.
	{name: "fast-clock", before: func(c *cluster) { c.standby = c.db.Standby(c.whole) }, strikes: anotherClock(10 * time.Second), after: (*cluster).rightClock, long: true},
	{name: "slow-clock", before: func(c *cluster) { c.standby = c.db.Standby(c.whole) }, strikes: anotherClock(-10 * time.Second), after: (*cluster).rightClock, long: true},
	// One member's clock is an hour fast and another one's an hour slow.
	{name: "clock", before: (*cluster).askew, strikes: (*cluster).waits, moves: true, least: lease - 2*time.Second, ends: true, after: (*cluster).waited, long: true},
	// A newer version migrates the schema, and then one member after another is upgraded.
	{name: "migrate", before: (*cluster).unready, strikes: (*cluster).upgrade, moves: true, after: (*cluster).downgrade, long: true},
}

// failover ends the primary and makes its standby take over. Then the old primary returns, and all
// relays connect to it for a while.
func (c *cluster) failover(_ *member) {
	c.Helper()
	old := c.takeOver()
	c.lead(c.db)
	time.Sleep(2 * time.Second)
	if err := old.Start(); err != nil {
		c.Fatal(err)
	}
	c.executeAt(old, "ALTER SYSTEM RESET synchronous_standby_names") // otherwise it waits for a standby before it commits anything
	c.executeAt(old, "SELECT pg_reload_conf()")
	const newest = "SELECT concat((SELECT count(*) FROM mulligan.events), ' events, a member seen ', (SELECT max(seen) FROM mulligan.members))"
	before := c.executeAt(old, newest)
	c.lead(old)
	time.Sleep(3 * time.Second) // each member writes its heartbeat every second
	if after := c.executeAt(old, newest); after != before {
		c.Errorf("I34: the old primary had %s, and takes what is written: %s", before, after)
	}
	c.lead(c.db)
	old.Crash()
}

// takeOver ends the primary and promotes its standby. The relays still connect to the old one.
func (c *cluster) takeOver() (old *pgtest.Own) {
	c.Helper()
	old = c.db
	old.Crash()
	if err := c.standby.Promote(); err != nil {
		c.Fatal(err)
	}
	c.db, c.standby = c.standby, nil
	return old
}

// lead points all relays to a database, and breaks the existing connections.
func (c *cluster) lead(to *pgtest.Own) {
	links := []*relay{c.link}
	for _, m := range c.members {
		links = append(links, m.link)
	}
	for _, l := range links {
		l.lead(to.Socket())
		l.reset()
	}
}

// everyOne ends all members with a signal, and then starts them.
func (c *cluster) everyOne(s syscall.Signal) {
	for _, m := range c.members {
		m.signal(s)
	}
	for _, m := range c.members {
		m.gone()
		m.start()
	}
}

// again restarts a member as a service manager does.
func (m *member) again() { m.becomes(m.other) }

// inTurn restarts each member, the one that was hit first, as fast as possible. Each finds runs
// that have just begun besides those that were handed over to it, and some runs are handed over by
// every member.
func (c *cluster) inTurn(hit *member, again func(*member)) {
	c.Helper()
	again(hit)
	for _, m := range c.members {
		if m == hit {
			continue
		}
		for i, at := range c.members {
			r := c.begin(at, i)
			r.early = true
			c.more = append(c.more, r)
		}
		again(m)
	}
}

// execute runs SQL over a connection of its own, and returns the last message.
func (c *cluster) execute(sql string) (said string) {
	c.Helper()
	return c.executeAt(c.db, sql)
}

func (c *cluster) executeAt(db *pgtest.Own, sql string) (said string) {
	c.Helper()
	conn, err := pgx.Connect(c.Context(), db.URL())
	if err != nil {
		c.Error(err)
		return ""
	}
	defer func() { _ = conn.Close(context.WithoutCancel(c.Context())) }()
	results, err := conn.PgConn().Exec(c.Context(), sql).ReadAll()
	if err != nil {
		c.Error(err)
		return ""
	}
	if rows := results[len(results)-1].Rows; len(rows) > 0 {
		said = string(rows[0][0])
	}
	return said
}

// refusing makes the database refuse, for a time, the first append and that share of those after
// it, with one of the codes. It counts refusals in a sequence, which no rollback undoes.
func (c *cluster) refusing(span time.Duration, share float64, codes ...string) {
	c.Helper()
	c.execute(fmt.Sprintf(`CREATE SEQUENCE mulligan.refused;
		CREATE FUNCTION mulligan.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
			IF NOT (SELECT is_called FROM mulligan.refused) OR random() < %g THEN
				PERFORM nextval('mulligan.refused');
				RAISE EXCEPTION 'refused' USING ERRCODE = (ARRAY['%s'])[1 + floor(random() * %d)];
			END IF;
			RETURN NEW;
		END $$;
		CREATE TRIGGER refuse BEFORE INSERT ON mulligan.events FOR EACH ROW EXECUTE FUNCTION mulligan.refuse()`, share, strings.Join(codes, "', '"), len(codes)))
	time.Sleep(span)
	if c.execute("DROP TRIGGER refuse ON mulligan.events; SELECT is_called FROM mulligan.refused") != "t" {
		c.Error("nothing was refused")
	}
	c.execute("DROP FUNCTION mulligan.refuse(); DROP SEQUENCE mulligan.refused")
}

// crowd takes all free connections, and keeps them for longer than a lease.
func (c *cluster) crowd(_ *member) {
	ctx, cancel := context.WithTimeout(c.Context(), timeout)
	defer cancel()
	var taken []*pgx.Conn
	for {
		conn, err := pgx.Connect(ctx, c.db.URL())
		if err != nil {
			break
		}
		taken = append(taken, conn)
	}
	if len(taken) == 0 || ctx.Err() != nil {
		c.Errorf("%d connections are taken, %v", len(taken), ctx.Err())
	}
	time.Sleep(lease + 2*time.Second)
	for _, conn := range taken {
		_ = conn.Close(ctx)
	}
}
