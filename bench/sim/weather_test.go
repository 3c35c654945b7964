package sim

import (
	"context"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
)

// weather is what happens to the whole computer: its network goes and comes back, its
// wall clock is set, it sleeps. Processes that die are their own fate's business.
type weather struct {
	mu      sync.Mutex
	offline bool
	set     time.Duration // by how much the wall clock was set
	slept   time.Duration
	came    map[string]coming // of owners, when they claimed the run last
}

// change lets weather happen until ctx ends, a few times.
func (w *world) change(ctx context.Context) {
	d := newDice(w.recipe.seed, diceWeather)
	storms, sets, naps := d.chance(0.15), d.chance(0.15), d.chance(0.1)
	for range 1 + d.n(6) {
		pause, length, which := d.duration(3*time.Minute), d.duration(10*time.Minute), d.n(3)
		if !w.idle(ctx, pause) {
			return
		}
		switch {
		case which == 0 && storms && w.recipe.has(partNetwork):
			w.sky.be(func(s *weather) { s.offline = true })
			w.idle(ctx, length)
			w.sky.be(func(s *weather) { s.offline = false })
		case which == 1 && sets && w.recipe.has(partClock):
			step := pick(d, time.Hour, -time.Hour, length, -length)
			w.sky.be(func(s *weather) { s.set += step })
		case which == 2 && naps && w.recipe.has(partClock):
			w.sky.be(func(s *weather) { s.slept += length })
		}
	}
}

// idle waits; false if ctx ends before.
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

func (s *weather) be(change func(*weather)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s)
}

// wall is the wall clock, which a sleeping computer's goes on.
func (s *weather) wall() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Now().Add(s.set + s.slept)
}

// until waits until the wall clock says so.
func (s *weather) until(at time.Time) {
	for left := at.Sub(s.wall()); left > 0; left = at.Sub(s.wall()) {
		time.Sleep(left)
	}
}

func (s *weather) sleeping() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.slept
}

// coming is when an owner claimed the run, which may be long before it could write so.
type coming struct {
	real  time.Time
	slept time.Duration
}

func (s *weather) comes(owner string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.came == nil {
		s.came = map[string]coming{}
	}
	s.came[owner] = coming{time.Now(), s.slept}
}

func (s *weather) cameOf(owner string) coming {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.came[owner]
}

// Offline makes it a runner.Connectivity.
func (s *weather) Offline(context.Context, []string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.offline
}

// cable is a connection that carries nothing while the network is gone.
type cable struct {
	net.Conn
	sky *weather
}

func (c cable) Write(b []byte) (int, error) {
	if c.sky.Offline(context.Background(), nil) {
		return 0, unreachable("write")
	}
	return c.Conn.Write(b)
}

func unreachable(op string) error {
	return &net.OpError{Op: op, Net: "tcp", Err: syscall.ENETUNREACH}
}

// i24clock: in a process, time goes as the monotonic clock does, whatever becomes of
// the wall clock; what the computer slept counts as well.
func (c *checker) i24clock(e recovery.Event) {
	now, slept := time.Now(), c.w.sky.sleeping()
	if claimed, ok := e.Body.(recovery.Claimed); ok {
		came := c.w.sky.cameOf(claimed.Owner)
		c.epoch = moment{e.Time, came.real, came.slept, e.Time.After(c.run.Last) && !came.real.IsZero()}
		return
	}
	if !c.epoch.sound {
		return // the wall clock was behind the log, whose times never go back
	}
	// Also the owner's coming was written late, and a write may be given up and repeated.
	late := time.Second + c.w.disk.slack(c.epoch.real.Add(-time.Minute))
	passed := e.Time.Sub(c.epoch.at)
	took := now.Sub(c.epoch.real)
	if passed > took+slept-c.epoch.slept+late || passed < took-late {
		c.complain("I24: event %d is %s after its owner came; %s have passed, and %s of sleep", e.Seq, passed, took, slept-c.epoch.slept)
	}
}

// moment is when an owner came.
type moment struct {
	at    time.Time // by the log
	real  time.Time // monotonic
	slept time.Duration
	sound bool // the log's clock stood where the wall clock did
}
