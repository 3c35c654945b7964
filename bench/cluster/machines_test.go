package cluster

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/timeline"
	"github.com/mulligan-run/mulligan/timeline/postgres"
	"github.com/mulligan-run/mulligan/timeline/postgres/pgtest"
)

// cluster is all members, and what they share.
type cluster struct {
	*testing.T                          // of the round
	whole               testing.TB      // of all rounds
	all                 context.Context // of all rounds
	dir, temp, program  string
	db, standby         *pgtest.Own // standby is nil unless a nemesis needs one
	lab                 *faultlab.Lab
	provider            string
	store               *timeline.Journal // the test's own, over a connection that no nemesis cuts
	link                *relay
	known               timeline.Members
	members             []*member
	runs                int       // that have begun
	more                []*reader // of further runs, which a nemesis began
	waiting, waitingRun string    // a model that makes a run wait, and that run
	waitingEpoch        uint64    // of that run while it has no owner
	next                string    // the next version's program
	flags               []string  // of each member's serve
}

// newCluster starts three members, with additional flags for each.
func newCluster(t *testing.T, flags ...string) *cluster {
	t.Helper()
	c := &cluster{T: t, whole: t, all: t.Context(), flags: flags, dir: t.TempDir(), db: pgtest.Begin(t), lab: faultlab.New()}
	server, err := c.lab.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.lab.Close()
		_ = server.Close()
	})
	c.provider = server.URL()
	if c.temp, err = os.MkdirTemp("", ""); err != nil { // a short path, for sockets; members that are killed leave files in it
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(c.temp) })
	c.program = filepath.Join(c.dir, "mulligan")
	build(t, c.program, nil)
	c.link = newRelay(t, c.db.Socket())
	if c.store, err = postgres.Open(t.Context(), c.link.url()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.store.Close() })
	c.known = c.store.StandsOn().(timeline.Members)
	for _, name := range []string{"a", "b", "c"} {
		m := c.newMember(name)
		m.start()
		c.members = append(c.members, m)
	}
	t.Cleanup(func() {
		for _, m := range c.members {
			m.signal(syscall.SIGCONT)
			m.signal(syscall.SIGKILL)
			m.gone()
		}
	})
	return c
}

func (c *cluster) journal() string { return filepath.Join(c.dir, "journal") }

// eventually waits until a condition holds.
func (c *cluster) eventually(what string, is func() bool) {
	c.Helper()
	for deadline := time.Now().Add(timeout); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			c.Fatalf("after %s: not %s", timeout, what)
		}
	}
}

const timeout = 90 * time.Second

// nameAt is the database's name for the member that serves at a URL; "" if there is none.
func (c *cluster) nameAt(url string) string {
	list, err := c.known.Members(c.Context())
	if err != nil {
		return ""
	}
	for _, m := range list {
		if !m.Gone && m.Address != "" && strings.HasSuffix(url, "//"+m.Address) {
			return m.Name
		}
	}
	return ""
}
