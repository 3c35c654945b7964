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

// cluster is all of them, and what they share.
type cluster struct {
	*testing.T                          // of the round
	whole               testing.TB      // of all rounds
	all                 context.Context // the same
	dir, temp, program  string
	db, standby         *pgtest.Own // standby is nil but where one is wanted
	lab                 *faultlab.Lab
	provider            string
	store               *timeline.Journal // the referee's, which has a link of its own
	link                *relay
	known               timeline.Members
	members             []*member
	runs                int       // that began
	more                []*reader // of runs that it began itself
	waiting, waitingRun string    // a model that has a run wait, and that run
	waitingEpoch        uint64    // of that run, while nobody has it
	next                string    // the program of the next version
	flags               []string  // of each member's serve
}

// newCluster has three of them serve, with more flags for each.
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
	if c.temp, err = os.MkdirTemp("", ""); err != nil { // short, for sockets; who is killed leaves its own there
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

// eventually waits for something to be so.
func (c *cluster) eventually(what string, is func() bool) {
	c.Helper()
	for deadline := time.Now().Add(patience); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			c.Fatalf("after %s: not %s", patience, what)
		}
	}
}

const patience = 90 * time.Second

// nameAt is the name of the member that serves at a URL, as the database has it; "" for none.
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
