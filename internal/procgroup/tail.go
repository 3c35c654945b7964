package procgroup

import (
	"slices"
	"sync"
)

// Tail keeps the end of a process's output, which usually explains why it did not start.
type Tail struct {
	most int
	mu   sync.Mutex
	kept []byte
}

// NewTail keeps at most that many bytes.
func NewTail(most int) *Tail { return &Tail{most: most} }

// Write never fails.
func (t *Tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, p[max(0, len(p)-t.most):]...)
	if over := len(t.kept) - t.most; over > 0 {
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
	return len(p), nil
}

// Bytes is the kept output; it may begin within a character.
func (t *Tail) Bytes() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.kept)
}
