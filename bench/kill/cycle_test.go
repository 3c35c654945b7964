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
	pace         = time.Millisecond      // between two words of a streamed answer
	instant      = 60 * time.Millisecond // a process is killed at most so long after it is ready
	maxLate      = 3 * time.Millisecond  // about how long an append takes
	childTimeout = 60 * time.Second      // for a child to end
	moreCrashes  = 2                     // of resumed processes, in one cycle
)

// cycle is one run, from its start to its end, with all processes that drove it.
type cycle struct {
	*testing.T
	dice      *rand.Rand
	point     point // where the first process dies; without a name: at any instant
	plan      plan
	lab       *faultlab.Lab
	lines     []line // what all processes told their parent, in order
	processes []process
}

// process is one child process.
type process struct {
	plan   plan
	killed time.Duration // how long after it was ready its parent killed it; 0 = not killed
	died   bool
}

// String describes how the process ended.
func (p process) String() string {
	text := p.plan.Mode
	switch {
	case p.died && p.plan.Point != "":
		text += fmt.Sprintf(", died %s, time %d", p.plan.Point, p.plan.Nth)
	case p.died:
		text += fmt.Sprintf(", killed after %s", p.killed)
	}
	return text
}

// play plays a cycle. It returns how the run ended, and whether the first process died at the
// point; a point without a name means any instant.
func play(t *testing.T, seed uint64, at point) (outcome string, died bool) {
	t.Helper()
	c := newCycle(t, seed, at)
	died = c.first()
	for more := 0; c.dead(); more++ {
		c.next(more < moreCrashes && c.dice.IntN(3) == 0)
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
	if at.scenario == "" {
		c.point.scenario = pick(c.dice, "tools", "tools", "tools", "asks", "waits", "long", "cancels", "slow")
	}
	c.lab.Script("one", scenarios[c.point.scenario].steps...)
	c.plan = plan{Dir: t.TempDir(), URL: server.URL(), Scenario: c.point.scenario, Mode: modeStart}
	return c
}

// dead reports whether the last process died, so that another one has to resume the run.
func (c *cycle) dead() bool { return c.processes[len(c.processes)-1].died }

func pick[T any](dice *rand.Rand, of ...T) T { return of[dice.IntN(len(of))] }

// first runs the run's first process, which is to die.
func (c *cycle) first() (died bool) {
	p := c.plan
	if c.point.name == "" {
		return c.run(p, c.anInstant())
	}
	return c.run(c.dying(p, c.point), 0)
}

// next has another process resume the run. It may die as well.
func (c *cycle) next(dies bool) {
	p := c.plan
	p.Mode = pick(c.dice, modeResume, modeResume, modeKeep)
	if scenarios[p.Scenario].early {
		p.Mode = modeResume
	}
	switch {
	case !dies:
		c.run(p, 0)
	case c.dice.IntN(2) == 0:
		c.run(p, c.anInstant())
	default:
		c.run(c.dying(p, pick(c.dice, points...)), 0)
	}
}

func (c *cycle) dying(p plan, at point) plan {
	p.Point, p.Nth = at.name, 1+c.dice.IntN(at.most)
	p.Late = time.Duration(c.dice.Int64N(int64(maxLate)))
	return p
}

// anInstant is within the next 60 ms, more likely early than late.
func (c *cycle) anInstant() time.Duration {
	f := c.dice.Float64()
	return 1 + time.Duration(f*f*f*float64(instant))
}

// run runs a child, kills it so long after it is ready unless kill is 0, and reports whether it
// died of SIGKILL.
func (c *cycle) run(p plan, kill time.Duration) bool {
	c.Helper()
	cmd, pipe, stderr := childProcess(c.T, p.String(), os.Args[0])
	var timer *time.Timer
	if err := cmd.Start(); err != nil {
		c.Fatal(err)
	}
	_ = cmd.ExtraFiles[0].Close() // the child's end
	hangs := time.AfterFunc(childTimeout, func() { _ = cmd.Process.Kill() })
	listen(pipe, func(l line) {
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
	c.processes = append(c.processes, process{plan: p, killed: kill, died: killed(cmd)})
	switch {
	case !inTime:
		c.Fatalf("a process still processes after %s: %v\n%s", childTimeout, c.processes, c.transcript())
	case err != nil && !killed(cmd):
		c.Fatalf("a process failed: %v: %v\n%s\n%s", c.processes, err, stderr, c.transcript())
	}
	return killed(cmd)
}

// childProcess prepares the command line with the plan. It also returns the pipe from the child and the
// buffer for its standard error.
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

// transcript is what the processes told their parent, for reading a failed cycle.
func (c *cycle) transcript() string {
	var text strings.Builder
	for _, l := range c.lines {
		if !l.is(wordShown) {
			fmt.Fprintln(&text, strings.Join(l, " "))
		}
	}
	return text.String()
}
