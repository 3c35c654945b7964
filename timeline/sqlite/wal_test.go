package sqlite

import (
	"os"
	"strings"
	"testing"
	"time"
)

// TestLogBeginsAnew: while a store writes without a pause its write-ahead log is checkpointed, and
// does not reach the length at which SQLite would make every writer wait.
func TestLogBeginsAnew(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 96 MiB")
	}
	const (
		writes = 2000
		size   = 48 << 10
	)
	s := open(t, t.TempDir())
	l, err := s.Claim(t.Context(), "r1", "a", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	longest := int64(0)
	for seq := uint64(1); seq <= writes; seq++ {
		e := noted("r1", seq)
		e.Text = strings.Repeat("x", size)
		if err := s.Append(t.Context(), l, seq-1, e); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(s.file + "-wal")
		if err != nil {
			t.Fatal(err)
		}
		longest = max(longest, info.Size())
	}
	if longest >= mostWALPages<<12 {
		t.Errorf("the log grew to %d MiB", longest>>20)
	}
}
