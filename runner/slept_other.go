//go:build !linux

package runner

import "time"

// systemSlept is not known here: a computer that slept looks like a wall clock that was set.
func systemSlept() time.Duration { return 0 }
