package cluster

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/sdk/go/client"
)

const (
	repeatsEnv = "MULLIGAN_CLUSTER_REPEATS" // of each nemesis; 1 without it
	lease      = 5 * time.Second            // of a member's runs
	pace       = 40 * time.Millisecond
)

// sentence is every answer's text; it takes about five seconds.
var sentence = strings.TrimSpace(strings.Repeat("one two three four five six seven eight nine ten ", 12))

// TestCluster plays each nemesis and prints a line for it.
func TestCluster(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program, and plays three machines")
	}
	repeats := 1
	if text := os.Getenv(repeatsEnv); text != "" {
		var err error
		if repeats, err = strconv.Atoi(text); err != nil || repeats < 1 {
			t.Fatalf("%s=%s: it is a number from 1", repeatsEnv, text)
		}
	}
	all := t
	c := newCluster(t)
	for _, n := range nemeses {
		t.Run(n.name, func(t *testing.T) {
			if n.long && os.Getenv(repeatsEnv) == "" {
				t.Skip("it takes a quarter of a minute: make cluster plays it")
			}
			c.T = t
			defer func() { c.T = all }()
			var claimed, spoke []time.Duration
			for range repeats {
				a, b := c.play(n)
				claimed, spoke = append(claimed, a), append(spoke, b)
			}
			line := fmt.Sprintf("%-10s %3d times, %d runs each: nothing lost, nothing twice", n.name, repeats, runs)
			if n.moves {
				line += fmt.Sprintf("; another member has the run after %s, and it speaks after %s", figures(claimed), figures(spoke))
			}
			if !t.Failed() {
				fmt.Println(line)
			}
		})
	}
}

// runs is how many runs a round has.
const runs = 4

// play is one round. It returns how long it took until another member claimed the first run, and
// until that member streamed an answer.
func (c *cluster) play(n nemesis) (claimed, spoke time.Duration) {
	c.Helper()
	if n.before != nil {
		n.before(c)
	}
	var readers []*reader
	for i := range runs {
		at := c.members[i%len(c.members)]
		readers = append(readers, c.begin(at, i))
	}
	for _, r := range readers {
		c.eventually("it speaks", func() bool {
			c.sound(r)
			return r.speaks()
		})
		c.guarded(r.run)
	}
	first := readers[0]
	old := first.owner()
	hit := c.members[slices.IndexFunc(c.members, func(m *member) bool { return m.owner() == old.Owner })]
	then := time.Now()
	n.strikes(c, hit)
	if n.moves {
		c.goesOn(first, func() (ok bool) {
			c.newer(first.run, old)
			claimed, spoke, ok = first.after(then)
			return ok
		})
		c.fenced(first.run, old)
		if claimed < n.least {
			c.Errorf("I36: run %s is taken after %s, and its lease held for longer", first.run, claimed)
		}
	}
	for _, r := range append(readers, c.more...) {
		select {
		case <-r.ended:
		case <-time.After(timeout):
			c.Fatalf("I01: run %s does not end: %s", r.run, c.stands(r.run))
		}
		c.check(r)
	}
	c.more = nil
	if n.ends {
		hit.gone()
		hit.start()
	}
	if n.after != nil {
		n.after(c)
	}
	return claimed, spoke
}

// goesOn waits until another member continues a run.
func (c *cluster) goesOn(r *reader, is func() bool) {
	c.Helper()
	for deadline := time.Now().Add(timeout); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			c.Fatalf("I36: after %s no other member goes on with run %s: %s", timeout, r.run, c.stands(r.run))
		}
	}
}

// stands describes a run's row in the database, and the members' last lines.
func (c *cluster) stands(run string) string {
	heads, err := c.store.StandsOn().Heads(c.Context(), run)
	text := fmt.Sprintf("%+v, %v", heads, err)
	for _, m := range c.members {
		m.mu.Lock()
		text += "\n" + m.name + ":\n" + strings.Join(m.lines, "\n")
		m.mu.Unlock()
	}
	return text
}

// begin begins a run at a member, and follows it through the next one.
func (c *cluster) begin(at *member, i int) *reader {
	c.Helper()
	n := len(c.members)
	return c.beginAt(at, c.members[(i+1)%n], c.members[(i+2)%n])
}

// beginAt begins a run at a member, and follows it through others in turn.
func (c *cluster) beginAt(at *member, through ...*member) *reader {
	c.Helper()
	c.runs++
	model := fmt.Sprint("talk-", c.runs)
	c.lab.Script(model, faultlab.ToolCall("pay", `{}`), faultlab.SlowAnswer(sentence, pace))
	auto := true
	var run string
	ctx, cancel := context.WithTimeout(c.Context(), timeout) // the request is repeated wherever it is redirected
	defer cancel()
	c.eventually("a run begins", func() (ok bool) {
		var err error
		run, err = at.client.Start(ctx, client.Start{Key: model, Prompt: "Tell me.", Model: "lab/" + model, AutoRecover: &auto})
		return err == nil
	})
	return c.read(run, through...)
}

// figures are the median and the maximum of some times.
func figures(times []time.Duration) string {
	times = slices.SortedFunc(slices.Values(times), cmp.Compare)
	return fmt.Sprintf("%.2f s (most %.2f)", times[len(times)/2].Seconds(), times[len(times)-1].Seconds())
}
