package sim

import (
	"context"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
)

// environment is the state of the whole computer: its network may be down, its wall clock set, and
// it may sleep. Crashes of processes are planned by each process.
type environment struct {
	mu      sync.Mutex
	offline bool
	set     time.Duration // by how much the wall clock was set
	slept   time.Duration
	claims  map[string]claimTime // when each owner last claimed the run
}

// change changes the environment a few times, until ctx ends.
func (w *world) change(ctx context.Context) {
	d := newDice(w.recipe.seed, diceEnvironment)
	storms, sets, naps := d.chance(0.15), d.chance(0.15), d.chance(0.1)
	for range 1 + d.n(6) {
		pause, length, which := d.duration(3*time.Minute), d.duration(10*time.Minute), d.n(3)
		if !w.idle(ctx, pause) {
			return
		}
		switch {
		case which == 0 && storms && w.recipe.has(partNetwork):
			w.env.be(func(s *environment) { s.offline = true })
			w.idle(ctx, length)
			w.env.be(func(s *environment) { s.offline = false })
		case which == 1 && sets && w.recipe.has(partClock):
			step := pick(d, time.Hour, -time.Hour, length, -length)
			w.env.be(func(s *environment) { s.set += step })
		case which == 2 && naps && w.recipe.has(partClock):
			w.env.be(func(s *environment) { s.slept += length })
		}
	}
}

// idle waits, and returns false if ctx ends first.
func (w *world) idle(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func (s *environment) be(change func(*environment)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s)
}

// wall is the wall clock, which runs on while the computer sleeps.
func (s *environment) wall() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Now().Add(s.set + s.slept)
}

// until waits until the wall clock reaches a time.
func (s *environment) until(at time.Time) {
	for left := at.Sub(s.wall()); left > 0; left = at.Sub(s.wall()) {
		time.Sleep(left)
	}
}

func (s *environment) sleeping() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.slept
}

// claimTime is when an owner claimed the run, which may be long before it could write the claim.
type claimTime struct {
	real  time.Time
	slept time.Duration
}

func (s *environment) noteClaim(owner string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.claims == nil {
		s.claims = map[string]claimTime{}
	}
	s.claims[owner] = claimTime{time.Now(), s.slept}
}

func (s *environment) claimTimeOf(owner string) claimTime {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.claims[owner]
}

// Offline makes it a runner.Connectivity.
func (s *environment) Offline(context.Context, []string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.offline
}

// envConn is a connection that carries nothing while the network is down.
type envConn struct {
	net.Conn
	env *environment
}

func (c envConn) Write(b []byte) (int, error) {
	if c.env.Offline(context.Background(), nil) {
		return 0, unreachable("write")
	}
	return c.Conn.Write(b)
}

func unreachable(op string) error {
	return &net.OpError{Op: op, Net: "tcp", Err: syscall.ENETUNREACH}
}

// i24clock: within a process, the log's time advances with the monotonic clock, however the wall
// clock is set; time that the computer slept counts too.
func (c *checker) i24clock(e recovery.Event) {
	now, slept := time.Now(), c.w.env.sleeping()
	if claimed, ok := e.Body.(recovery.Claimed); ok {
		came := c.w.env.claimTimeOf(claimed.Owner)
		c.epoch = moment{e.Time, came.real, came.slept, e.Time.After(c.run.Last) && !came.real.IsZero()}
		return
	}
	if !c.epoch.sound {
		return // the wall clock was behind the log, whose times never go back
	}
	// The claim may have been written late, too, and a write may be given up and repeated.
	late := time.Second + c.w.disk.slack(c.epoch.real.Add(-time.Minute))
	passed := e.Time.Sub(c.epoch.at)
	took := now.Sub(c.epoch.real)
	if passed > took+slept-c.epoch.slept+late || passed < took-late {
		c.complain("I24: event %d is %s after its owner came; %s have passed, and %s of sleep", e.Seq, passed, took, slept-c.epoch.slept)
	}
}

// moment is when an owner claimed the run.
type moment struct {
	at    time.Time // in the log
	real  time.Time // on the monotonic clock
	slept time.Duration
	sound bool // the log's clock agreed with the wall clock
}
