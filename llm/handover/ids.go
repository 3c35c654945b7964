package handover

import (
	"fmt"
	"hash/fnv"
	"strings"
)

// ids gives each call a legal id that no other call has.
type ids struct {
	most int
	used map[string]bool // nil before the first call
}

// leastID is the room that every wire has for an id, in bytes.
const leastID = 16

// legal gives a legal, unused id for a call that the model called raw.
func (s *ids) legal(raw string) string {
	id := strings.Map(legal, raw)
	id = id[:min(len(id), s.most)]
	for n := 0; id == "" || s.used[id]; n++ {
		id = s.hashed(raw, n)
	}
	if s.used == nil {
		s.used = map[string]bool{}
	}
	s.used[id] = true
	return id
}

func (s *ids) hashed(raw string, n int) string {
	sum := fnv.New32a()
	fmt.Fprintf(sum, "%s\x00%d\x00%d", raw, n, len(s.used))
	tail := fmt.Sprintf("_%08x", sum.Sum32())
	head := strings.Map(legal, raw)
	if head == "" {
		head = "call"
	}
	return head[:min(len(head), s.most-len(tail))] + tail
}

func legal(r rune) rune {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
		return r
	}
	return '_'
}
