package sqlite

import (
	"fmt"
	"slices"
	"strings"
)

// joined is an expression that gives several columns, none of which is NULL, as one text: the
// numbers, then how many bytes each text has, then the texts, with a space between any two of these.
// Handing over a column of its own takes the driver several times as long.
func joined(numbers, texts []string) string {
	parts := slices.Clone(numbers)
	for _, column := range texts {
		parts = append(parts, "octet_length("+column+")")
	}
	return "concat_ws(' ', " + strings.Join(append(parts, texts...), ", ") + ")"
}

// joinedScan takes a text of joined apart. In a long list, allocating what columns are scanned into
// takes time.
type joinedScan struct {
	numbers []*int64
	texts   []*string
	lengths []int
	from    string // the text
}

func (s *joinedScan) split() error {
	s.lengths = s.lengths[:0]
	rest := s.from
	for i := range len(s.numbers) + len(s.texts) {
		n, after, ok := number(rest)
		if !ok {
			return fmt.Errorf("a row has no number %d", i+1)
		}
		rest = after
		if i < len(s.numbers) {
			*s.numbers[i] = n
		} else {
			s.lengths = append(s.lengths, int(n))
		}
	}
	for i, n := range s.lengths {
		if i > 0 && rest != "" {
			rest = rest[1:] // the space
		}
		if n < 0 || n > len(rest) {
			return fmt.Errorf("a row ends before its text %d", i+1)
		}
		*s.texts[i], rest = rest[:n], rest[n:]
	}
	return nil
}

// number takes a number, and the space behind it, off text. It reads each digit once, which
// takes half as long as to look for the space and then to parse.
func number(text string) (n int64, rest string, ok bool) {
	digits := strings.TrimPrefix(text, "-")
	for i := range len(digits) {
		switch c := digits[i]; {
		case c >= '0' && c <= '9':
			n = 10*n + int64(c-'0')
		case c == ' ' && i > 0:
			if len(digits) < len(text) {
				n = -n
			}
			return n, digits[i+1:], true
		default:
			return 0, "", false
		}
	}
	return 0, "", false
}
