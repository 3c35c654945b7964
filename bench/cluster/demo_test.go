package cluster

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/sdk/go/client"
)

// demoEnv is how long TestDemo waits for people to open the page, for example 20s. If it is set,
// TestDemo prints what happens.
const demoEnv = "MULLIGAN_CLUSTER_DEMO"

// TestDemo: one of three members drives a run that is followed at another one. When the driver is
// killed in the middle of an answer, the answer continues.
func TestDemo(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program, and starts three of it")
	}
	tell := func(string, ...any) {}
	var look time.Duration
	if text := os.Getenv(demoEnv); text != "" {
		var err error
		if look, err = time.ParseDuration(text); err != nil {
			t.Fatalf("%s=%s: it is a duration such as 20s, or 0s", demoEnv, text)
		}
		tell = func(format string, args ...any) { fmt.Printf(format, args...) }
	}
	c := newCluster(t)
	for i, m := range c.members {
		tell("member %s serves at %s, as %s\n", letters[i], m.url, m.owner())
	}
	run := c.begin(c.members[0], 0)
	owner := c.ownerOf(run)
	watches := c.members[(owner+1)%len(c.members)]
	link := watches.invitation(watches.url)
	tell("\nThe run %s is driven by member %s. Its page, at member %s:\n  %s\n\n", run.run, letters[owner], letters[(owner+1)%len(c.members)], link)
	time.Sleep(look)
	shown := c.echo(run.run, watches, tell)
	c.eventually("it speaks", run.speaks)
	old, then := run.owner(), time.Now()
	tell("\n\n   kill -9 of member %s, which drives it\n\n", letters[owner])
	c.members[owner].signal(syscall.SIGKILL)
	c.members[owner].gone()
	claimed, spoke := time.Duration(0), time.Duration(0)
	c.eventually("another member goes on", func() (ok bool) {
		claimed, spoke, ok = run.after(then)
		return ok
	})
	if now := run.owner(); now.Owner == old.Owner || now.Epoch <= old.Epoch {
		t.Errorf("I34: %+v has it after %+v", now, old)
	}
	<-run.ended
	text := <-shown
	tell("\n\nMember %s had the run after %.1f s, and it spoke on %.1f s after the kill.\n", letters[c.ownerOf(run)], claimed.Seconds(), spoke.Seconds())
	c.check(run)
	if text != sentence {
		t.Errorf("I09: who follows at another member sees %q in the end", text)
	}
}

var letters = []string{"a", "b", "c"}

// ownerOf waits until a member drives a run, and returns its number.
func (c *cluster) ownerOf(r *reader) (at int) {
	c.Helper()
	c.eventually("a member drives it", func() bool {
		owner := r.owner().Owner
		at = slices.IndexFunc(c.members, func(m *member) bool { return m.owner() == owner })
		return at >= 0
	})
	return at
}

// echo prints what a client of a member shows of a run as it comes. In the end the channel gives
// the whole text.
func (c *cluster) echo(run string, at *member, tell func(string, ...any)) <-chan string {
	all := make(chan string, 1)
	go func() {
		var view client.View
		said := ""
		for item, err := range at.client.Follow(c.Context(), run, 0) {
			if err == nil {
				err = view.Apply(item)
			}
			if err != nil {
				c.Errorf("who follows the run at another member: %v", err)
				break
			}
			if more, ok := strings.CutPrefix(view.Text(), said); ok {
				tell("%s", more)
			} else {
				tell("   (the model is asked once more)\n\n%s", view.Text())
			}
			said = view.Text()
		}
		all <- view.Text()
	}()
	return all
}

// invitation is a link that signs a browser in to the page at a URL.
func (m *member) invitation(url string) string {
	m.Helper()
	cmd := exec.CommandContext(m.all, m.program, "login", "--url", url)
	cmd.Dir, cmd.Env = m.dir, m.environment()
	out, err := cmd.Output()
	if err != nil {
		m.Fatalf("mulligan login: %v: %s", err, out)
	}
	return strings.TrimSpace(string(out))
}
