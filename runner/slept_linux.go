package runner

import (
	"time"

	"golang.org/x/sys/unix"
)

// systemSlept is how long this computer has slept since it was started: the difference between
// its boot-time clock and its monotonic clock, which stands still during sleep.
func systemSlept() time.Duration {
	var all, awake unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &all) != nil || unix.ClockGettime(unix.CLOCK_MONOTONIC, &awake) != nil {
		return 0
	}
	return time.Duration(all.Nano() - awake.Nano()).Truncate(100 * time.Millisecond) // the two are read one after the other
}
