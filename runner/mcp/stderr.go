package mcp

import (
	"bytes"
	"strings"
	"sync"
)

// keptStderr is how much of what a process said last is kept, in bytes.
const keptStderr = 4 << 10

// stderr keeps the end of what a process writes to standard error: it is what explains
// most servers that do not start.
type stderr struct {
	mu   sync.Mutex
	kept []byte
}

// Write takes everything.
func (s *stderr) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept = append(s.kept, p[max(0, len(p)-keptStderr):]...)
	if over := len(s.kept) - keptStderr; over > 0 {
		s.kept = append(s.kept[:0], s.kept[over:]...)
	}
	return len(p), nil
}

// tail is the last lines, in one that can be shown, at most n bytes long.
func (s *stderr) tail(n int) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	kept := bytes.TrimSpace(s.kept)
	lines := strings.Split(string(kept[max(0, len(kept)-n):]), "\n")
	return printable(strings.Join(lines[max(0, len(lines)-5):], " | "), n)
}
