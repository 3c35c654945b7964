package host

import (
	"fmt"
	"time"
)

const watchEvery = 250 * time.Millisecond

// watchUsage ends a plugin whose processes take too much together. It ends with the
// process.
func (r *processRunner) watchUsage(l Limits) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	over := 0 // times in a row: for a moment, a process that forks seems to be two
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
