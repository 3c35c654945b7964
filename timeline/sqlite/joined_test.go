package sqlite

import (
	"context"
	"slices"
	"testing"
)

// TestJoined reads back, from one column, texts that look like what is between them.
func TestJoined(t *testing.T) {
	s := open(t, t.TempDir())
	for _, want := range [][]string{{"", "", ""}, {"a b", "7 8 ", " "}, {"ü€😀", "1\x00 2\n", ""}, {"", " 3", "the last"}} {
		row := s.readers.QueryRowContext(context.Background(),
			"SELECT "+joined([]string{"n", "m"}, []string{"x", "y", "z"})+" FROM (SELECT -5 AS n, 1 << 62 AS m, ? AS x, ? AS y, ? AS z)", want[0], want[1], want[2])
		var n, m int64
		got := make([]string, 3)
		scan := joinedScan{numbers: []*int64{&n, &m}, texts: []*string{&got[0], &got[1], &got[2]}}
		if err := row.Scan(&scan.from); err != nil {
			t.Fatal(err)
		}
		if err := scan.split(); err != nil || n != -5 || m != 1<<62 || !slices.Equal(got, want) {
			t.Errorf("%q: %d, %d, %q: %v", scan.from, n, m, got, err)
		}
	}
	for _, damaged := range []string{"", "1", "1 2 0 0", "1 x 0 0 0   ", "1 2 0 0 9  end", "1 2 -1 0 0   "} {
		var n, m int64
		var x, y, z string
		scan := joinedScan{numbers: []*int64{&n, &m}, texts: []*string{&x, &y, &z}, from: damaged}
		if err := scan.split(); err == nil {
			t.Errorf("%q is read", damaged)
		}
	}
}
