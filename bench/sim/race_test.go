//go:build race

package sim

import "runtime"

// With the race detector one processor plays all worlds. Go 1.26 keeps one race context for all
// timers of a bubble. Goroutines that read due tickers at the same instant, as the journals of
// several machines do, use it at once without a lock, and the detector crashes (SIGSEGV). Races are
// still found, since the detector looks at happens-before relations and not at timing.
func init() { runtime.GOMAXPROCS(1) }
