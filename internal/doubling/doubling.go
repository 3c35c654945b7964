package doubling

import (
	"runtime"
	"testing"
)

// tries is how often each size is measured; the smallest counts, because other goroutines
// allocate, too.
const tries = 3

// Check fails if work on an input of size 2n takes more than three times the memory of
// that on n. work makes the input and returns what to do with it, which must be
// repeatable.
func Check(t *testing.T, n int, work func(n int) func()) {
	t.Helper()
	once, twice := allocated(work(n)), allocated(work(2*n))
	if twice > 3*once {
		t.Errorf("%d bytes were allocated for n, %d for 2n", once, twice)
	}
}

func allocated(do func()) uint64 {
	var before, after runtime.MemStats
	least := ^uint64(0)
	for range tries {
		runtime.ReadMemStats(&before)
		do()
		runtime.ReadMemStats(&after)
		least = min(least, after.TotalAlloc-before.TotalAlloc)
	}
	return least
}
