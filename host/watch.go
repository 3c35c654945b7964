package host

import (
	"fmt"
	"time"
)

const watchEvery = 250 * time.Millisecond

// watchUsage ends a plugin whose processes together use too much. It returns when the
// process ends.
func (r *processRunner) watchUsage(l Limits) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	over := 0 // times in a row: while a process forks, it briefly counts twice
	for {
		select {
		case <-r.exited:
			return
		case <-tick.C:
		}
		processes, bytes := usage(r)
		if bytes > l.Memory {
			bytes = shared(r)
		}
		if bytes > l.Memory && !r.group.limitsMemory() {
			over++
		} else {
			over = 0
		}
		switch {
		case over == 2:
			r.killFor(fmt.Errorf("it took %d MiB of memory, at most %d are allowed", bytes>>20, l.Memory>>20))
		case processes > l.Processes:
			r.killFor(fmt.Errorf("it had %d processes, at most %d are allowed", processes, l.Processes))
		}
	}
}
