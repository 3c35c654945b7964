package procgroup

import (
	"strings"
	"testing"
)

func TestTail(t *testing.T) {
	tail := NewTail(5)
	for _, c := range []struct{ said, want string }{{"ab", "ab"}, {"", "ab"}, {"cde", "abcde"}, {"f", "bcdef"}, {strings.Repeat("x", 9) + "yz", "xxxyz"}} {
		if n, err := tail.Write([]byte(c.said)); n != len(c.said) || err != nil {
			t.Errorf("%q: %d, %v", c.said, n, err)
		}
		if got := string(tail.Bytes()); got != c.want {
			t.Errorf("after %q: %q, not %q", c.said, got, c.want)
		}
	}
}
