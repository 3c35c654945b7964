package postgres

import (
	"context"
	"sync"
	"time"

	"github.com/mulligan-run/mulligan/timeline"
)

var _ timeline.Clocked = (*Store)(nil)

const askTime = time.Second // how often the database is asked what time it is

// clock goes as the database's does, by this machine's monotonic clock, whatever its wall clock says.
type clock struct {
	mu    sync.Mutex
	at    time.Time // the database's
	since time.Time // when that was
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.read()
}

func (c *clock) read() time.Time { return c.at.Add(time.Since(c.since)) }

// heard sets the clock by the time that the database said when it was asked. The answer is as exact as it took
// long to come, so the clock changes only if it contradicts it.
func (c *clock) heard(said, asked time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	took := time.Since(asked)
	if now := c.read(); c.since.IsZero() || now.Before(said) || now.After(said.Add(took)) {
		c.at, c.since = said.UTC().Add(took/2), time.Now()
	}
}

// Now is timeline.Clocked's: the database's time.
func (s *Store) Now() time.Time { return s.clock.now() }

// keepTime asks for the time until ctx ends. While the database does not answer, time goes on as it did.
func (s *Store) keepTime(ctx context.Context) {
	ticker := time.NewTicker(askTime)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
		var said time.Time
		asked := time.Now()
		bounded, cancel := context.WithTimeout(ctx, queryTime)
		if s.readers.QueryRow(bounded, "SELECT clock_timestamp()").Scan(&said) == nil {
			s.clock.heard(said, asked)
		}
		cancel()
	}
}
