package runner

import (
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// systemSlept is how long this computer has slept since it was started: the difference between
// its boot-time clock and its monotonic clock, which stands still during sleep.
func systemSlept() time.Duration { return sleep.total() }

var sleep = slept{since: time.Now()}

// slept is the last result of systemSlept. Each run asks several times, and reading the two clocks
// costs a system call each; it can be seen without one whether the computer may have slept since.
type slept struct {
	since time.Time // when this process began

	mu     sync.Mutex
	last   time.Duration
	known  bool
	at     time.Duration // when last was read, on the monotonic clock
	offset time.Duration // between the wall clock and the monotonic clock at that time; a sleep changes it
}

const (
	sleptStep = 50 * time.Millisecond // a smaller move of the offset says nothing
	sleptTime = time.Second           // setting the wall clock may hide a sleep for this long
)

func (s *slept) total() time.Duration {
	now := time.Now()
	at := now.Sub(s.since)
	offset := now.Round(0).Sub(s.since.Round(0)) - at
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.known || (offset-s.offset).Abs() > sleptStep || (at-s.at).Abs() > sleptTime {
		s.last, s.known, s.at, s.offset = readSlept(), true, at, offset
	}
	return s.last
}

func readSlept() time.Duration {
	var all, awake unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &all) != nil || unix.ClockGettime(unix.CLOCK_MONOTONIC, &awake) != nil {
		return 0
	}
	return time.Duration(all.Nano() - awake.Nano()).Truncate(100 * time.Millisecond) // the two are read one after the other
}
