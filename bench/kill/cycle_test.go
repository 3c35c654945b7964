package kill

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/faultlab"
)

const (
	pace       = time.Millisecond      // of a streamed answer, per word
	instant    = 60 * time.Millisecond // after its readiness a process is killed by then
	maxLate    = 3 * time.Millisecond  // an append takes about as long
	patience   = 60 * time.Second      // with a child
	moreDeaths = 2                     // of those that resume
)

// cycle is one run, from its start through the deaths of its processes to its end.
type cycle struct {
	*testing.T
	dice  *rand.Rand
	point point // where the first process dies; without a name at any instant
	plan  plan
	lab   *faultlab.Lab
	lines []line // of all tales, in their order
	lives []life
}

// life is one process.
type life struct {
	plan   plan
	killed time.Duration // by its parent, so long after it was ready; 0 = not
	died   bool
}

// String says how it went.
func (l life) String() string {
	text := l.plan.Mode
	switch {
	case l.died && l.plan.Point != "":
		text += fmt.Sprintf(", died %s, time %d", l.plan.Point, l.plan.Nth)
	case l.died:
		text += fmt.Sprintf(", killed after %s", l.killed)
	}
	return text
}

// play plays a cycle with the point, without a name for any instant, and says what the run
// came to and whether the first process died where it should.
func play(t *testing.T, seed uint64, at point) (outcome string, died bool) {
	t.Helper()
	c := newCycle(t, seed, at)
	died = c.first()
	for more := 0; c.dead(); more++ {
		c.next(more < moreDeaths && c.dice.IntN(3) == 0)
	}
	outcome, wrong := c.check()
	c.report(wrong)
	return outcome, died
}

func newCycle(t *testing.T, seed uint64, at point) *cycle {
	t.Helper()
	c := &cycle{T: t, dice: rand.New(rand.NewPCG(seed, 6)), point: at, lab: faultlab.New(faultlab.WithPace(pace))} //nolint:gosec // no secret
	server, err := c.lab.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.lab.Close()
		_ = server.Close()
	})
	if at.story == "" {
		c.point.story = pick(c.dice, "tools", "tools", "tools", "asks", "waits", "long", "cancels", "slow")
	}
	c.lab.Script("one", stories[c.point.story].steps...)
	c.plan = plan{Dir: t.TempDir(), URL: server.URL(), Story: c.point.story, Mode: modeStart}
	return c
}

// dead reports whether the last process died, so that another has to go on.
func (c *cycle) dead() bool { return c.lives[len(c.lives)-1].died }

func pick[T any](dice *rand.Rand, of ...T) T { return of[dice.IntN(len(of))] }

// first lets the run's first process live and die.
func (c *cycle) first() (died bool) {
	p := c.plan
	if c.point.name == "" {
		return c.live(p, c.anInstant())
	}
	return c.live(c.dying(p, c.point), 0)
}

// next lets another process go on, which may die as well.
func (c *cycle) next(dies bool) {
	p := c.plan
	p.Mode = pick(c.dice, modeResume, modeResume, modeKeep)
	if stories[p.Story].early {
		p.Mode = modeResume
	}
	switch {
	case !dies:
		c.live(p, 0)
	case c.dice.IntN(2) == 0:
		c.live(p, c.anInstant())
	default:
		c.live(c.dying(p, pick(c.dice, points...)), 0)
	}
}

func (c *cycle) dying(p plan, at point) plan {
	p.Point, p.Nth = at.name, 1+c.dice.IntN(at.most)
	p.Late = time.Duration(c.dice.Int64N(int64(maxLate)))
	return p
}

// anInstant is one of the next 60 ms, rather an early one.
func (c *cycle) anInstant() time.Duration {
	f := c.dice.Float64()
	return 1 + time.Duration(f*f*f*float64(instant))
}

// live runs a child, kills it so long after it is ready unless that is 0, and reports
// whether it died of SIGKILL.
func (c *cycle) live(p plan, kill time.Duration) bool {
	c.Helper()
	cmd, tale, stderr := childProcess(c.T, p.String(), os.Args[0])
	var timer *time.Timer
	if err := cmd.Start(); err != nil {
		c.Fatal(err)
	}
	_ = cmd.ExtraFiles[0].Close() // the child's end
	hangs := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
	listen(tale, func(l line) {
		if l.is(wordReady) && kill > 0 {
			timer = time.AfterFunc(kill, func() { _ = cmd.Process.Kill() })
		}
		c.lines = append(c.lines, l)
	})
	err := cmd.Wait()
	inTime := hangs.Stop()
	if timer != nil {
		timer.Stop()
	}
	c.lives = append(c.lives, life{plan: p, killed: kill, died: killed(cmd)})
	switch {
	case !inTime:
		c.Fatalf("a process still lives after %s: %v\n%s", patience, c.lives, c.story())
	case err != nil && !killed(cmd):
		c.Fatalf("a process failed: %v: %v\n%s\n%s", c.lives, err, stderr, c.story())
	}
	return killed(cmd)
}

// childProcess runs the command line with the plan and the writing end of its tale.
func childProcess(t *testing.T, plan string, args ...string) (*exec.Cmd, *os.File, *bytes.Buffer) {
	t.Helper()
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = reader.Close()
		_ = writer.Close()
	})
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	stderr := &bytes.Buffer{}
	cmd.Stderr, cmd.ExtraFiles = stderr, []*os.File{writer}
	cmd.Env = append(os.Environ(), planEnv+"="+plan, "GORACE=atexit_sleep_ms=0")
	return cmd, reader, stderr
}

func killed(cmd *exec.Cmd) bool {
	status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

// story is what was told, for whoever reads a failed cycle.
func (c *cycle) story() string {
	var text strings.Builder
	for _, l := range c.lines {
		if !l.is(wordShown) {
			fmt.Fprintln(&text, strings.Join(l, " "))
		}
	}
	return text.String()
}
