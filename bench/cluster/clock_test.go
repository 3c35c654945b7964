package cluster

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/sdk/go/client"
)

// askew sets the first member's clock, and its plugins', an hour ahead, and the second one's an
// hour back.
func (c *cluster) askew() {
	c.Helper()
	for i, shift := range []time.Duration{time.Hour, -time.Hour} {
		program := filepath.Join(c.dir, "askew"+shift.String())
		if !exists(program) {
			build(c.T, program, wrongClock(c.T, shift))
		}
		c.members[i].becomes(program)
	}
}

// wrongClock is the standard library's time.Now with a shift. Everything in a program reads the
// time through it.
func wrongClock(t *testing.T, shift time.Duration) map[string]string {
	t.Helper()
	root, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	now := filepath.Join(strings.TrimSpace(string(root)), "src", "time", "time.go")
	const reads = "\n\tsec, nsec, mono := runtimeNow()\n"
	return map[string]string{now: changed(t, now, reads, fmt.Sprintf("%s\tsec += %d\n", reads, int(shift.Seconds())))}
}

// waitFor is how long the provider asks a run to wait. It is longer than a run waits within a
// process.
const waitFor = 10 * time.Minute

// waits starts a run at the third member, whose clock is right, and has it wait there without an
// owner. Then it kills the member that was hit.
func (c *cluster) waits(hit *member) {
	c.Helper()
	c.runs++
	c.waiting = fmt.Sprint("wait-", c.runs)
	c.lab.Script(c.waiting, faultlab.RateLimited(waitFor), faultlab.Answer("It is too early."))
	auto := true
	var err error
	if c.waitingRun, err = c.members[2].client.Start(c.Context(), client.Start{Key: c.waiting, Prompt: "Tell me.", Model: "lab/" + c.waiting, AutoRecover: &auto}); err != nil {
		c.Fatal(err)
	}
	c.eventually("I13: it waits, and nobody has it", func() bool {
		heads, err := c.store.StandsOn().Heads(c.Context(), c.waitingRun)
		if err != nil || len(heads) != 1 || heads[0].Status != recovery.StatusWaiting || heads[0].Owner != "" {
			return false
		}
		c.waitingEpoch = heads[0].Epoch
		return true
	})
	hit.signal(syscall.SIGKILL)
}

// waited checks that nobody took over the run or asked the provider again before the wait was over,
// and restores the clocks. A model that cools down is not asked even by a member that took over too
// early.
func (c *cluster) waited() {
	c.Helper()
	asked := 0
	for _, r := range c.lab.Requests() {
		if r.Model == c.waiting {
			asked++
		}
	}
	if asked != 1 {
		c.Errorf("I13: the provider was asked %d times within %s", asked, waitFor)
	}
	heads, err := c.store.StandsOn().Heads(c.Context(), c.waitingRun)
	if err != nil || len(heads) != 1 {
		c.Fatalf("%+v, %v", heads, err)
	}
	if epoch := heads[0].Epoch; epoch != c.waitingEpoch {
		c.Errorf("I13: the run waits %s, and was taken up %d times before its time", waitFor, epoch-c.waitingEpoch)
	}
	if err := c.members[2].client.Cancel(c.Context(), c.waitingRun); err != nil {
		c.Error(err)
	}
	for _, m := range c.members[:2] {
		m.becomes("")
	}
}

// anotherClock makes the standby, whose clock is wrong, take over.
func anotherClock(by time.Duration) func(*cluster, *member) {
	return func(c *cluster, _ *member) {
		c.Helper()
		const claims = "SELECT string_agg(concat(run, ' ', epoch), ', ' ORDER BY run) FROM mulligan.runs"
		before := c.executeAt(c.db, claims)
		c.takeOver()
		c.execute(fmt.Sprintf(`CREATE SCHEMA off;
			CREATE FUNCTION off.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS $$ SELECT pg_catalog.clock_timestamp() + interval '%d s' $$;
			ALTER ROLE ALL SET search_path = off, pg_catalog`, int(by.Seconds())))
		c.lead(c.db)
		time.Sleep(2 * time.Second) // each member looks every second for runs without an owner
		if after := c.executeAt(c.db, claims); after != before {
			c.Errorf("I36: the runs' epochs were %s, and are %s, though every owner lives", before, after)
		}
	}
}

// rightClock restores the database's clock.
func (c *cluster) rightClock() {
	c.execute("ALTER ROLE ALL RESET search_path; DROP SCHEMA off CASCADE")
	c.lead(c.db)
}
