package scarce

import (
	"errors"
	"os"
	"sync"
	"syscall"
	"testing"
)

// most is how many descriptors the test's process may have in the meantime.
const most = 256

// Descriptors takes all file descriptors from this process until free is called or the
// test ends. No other test of the process may run at the same time.
func Descriptors(t *testing.T) (free func()) {
	t.Helper()
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	few := limit
	few.Cur = min(few.Cur, most)
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &few); err != nil {
		t.Fatal(err)
	}
	var taken []*os.File
	free = sync.OnceFunc(func() {
		for _, f := range taken {
			_ = f.Close()
		}
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(free)
	for {
		f, err := os.Open(os.DevNull)
		if errors.Is(err, syscall.EMFILE) {
			return free
		}
		if err != nil {
			t.Fatal(err)
		}
		taken = append(taken, f)
	}
}
