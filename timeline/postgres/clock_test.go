package postgres

import (
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/timeline"
	"github.com/mulligan-run/mulligan/timeline/postgres/pgtest"
)

// TestClock: the clock is that of the database, whatever this machine's wall clock says. It is not set by an answer
// that it agrees with.
func TestClock(t *testing.T) {
	var c clock
	fast := time.Now().Add(time.Hour)
	c.heard(fast, time.Now())
	near(t, c.now(), fast)

	before := c.at
	c.heard(fast, time.Now().Add(-time.Minute)) // it took a minute to come, and may be as old
	if c.at != before {
		t.Errorf("an answer that may be right sets the clock from %s to %s", before, c.at)
	}

	slow := fast.Add(-10 * time.Second) // as after a failover
	c.heard(slow, time.Now())
	near(t, c.now(), slow)
}

// TestNow: a store has the database's time as soon as it is open, and goes on asking for it. Its journal goes by it.
func TestNow(t *testing.T) {
	s, err := openStore(t.Context(), pgtest.Database(t))
	if err != nil {
		t.Fatal(err)
	}
	var said time.Time
	if err := s.readers.QueryRow(t.Context(), "SELECT clock_timestamp()").Scan(&said); err != nil {
		t.Fatal(err)
	}
	near(t, s.Now(), said)
	s.clock.heard(said.Add(time.Hour), time.Now())
	for began := time.Now(); s.Now().Sub(said) > time.Minute; time.Sleep(20 * time.Millisecond) {
		if time.Since(began) > 30*time.Second {
			t.Fatal("the clock stays wrong")
		}
	}
	j := timeline.NewJournal(s)
	if err := j.Close(); err != nil { // or it would ask again
		t.Fatal(err)
	}
	s.clock.heard(said.Add(time.Hour), time.Now())
	near(t, j.Now(), said.Add(time.Hour))
}

func near(t *testing.T, got, want time.Time) {
	t.Helper()
	if d := got.Sub(want).Abs(); d > 5*time.Second {
		t.Errorf("the time is %s, not %s", got, want)
	}
}
