//go:build race

package sim

import "runtime"

// With the race detector one processor plays all worlds. Go 1.26 keeps one race context for all
// timers of a bubble, and goroutines that read due tickers at the same instant, as the journals
// of several machines do, use it at once without a lock; the detector then crashes (SIGSEGV).
// Races are found all the same, since the detector goes by what happens before what.
func init() { runtime.GOMAXPROCS(1) }
