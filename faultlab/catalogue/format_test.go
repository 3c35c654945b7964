package catalogue

import (
	"reflect"
	"strings"
	"testing"
)

// TestStringReadsAsItWasWritten: what a script shows of itself plays the same bytes.
func TestStringReadsAsItWasWritten(t *testing.T) {
	for _, s := range All() {
		if s.Wire == "" {
			if s.String() != "" {
				t.Errorf("%s shows %q", s.Name(), s)
			}
			continue
		}
		head := "kind: " + s.Expect.Kind + "\n"
		if !s.Expect.Answer {
			head += map[bool]string{true: "retryable: yes\n", false: "retryable: no\n"}[*s.Expect.Retryable]
		}
		again, err := parse(s.Name(), head+"== "+s.Wire+"\n"+s.String())
		if err != nil {
			t.Errorf("%s on %s: %v\n%s", s.Name(), s.Wire, err, s)
			continue
		}
		got := again[0]
		if got.Status != s.Status || !reflect.DeepEqual(got.Header, s.Header) || !reflect.DeepEqual(got.Acts, s.Acts) {
			t.Errorf("%s on %s is shown as\n%s", s.Name(), s.Wire, s)
		}
		if strings.ContainsFunc(s.String(), func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' }) {
			t.Errorf("%s on %s shows control characters", s.Name(), s.Wire)
		}
	}
}
