package sqlite

import (
	"fmt"
	"slices"
	"strconv"
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
		end := strings.IndexByte(rest, ' ')
		if end < 0 {
			return fmt.Errorf("a row ends after %d numbers", i)
		}
		n, err := strconv.ParseInt(rest[:end], 10, 64)
		if err != nil {
			return fmt.Errorf("a row: %w", err)
		}
		rest = rest[end+1:]
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
