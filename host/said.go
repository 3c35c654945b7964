package host

import (
	"slices"
	"sync"
)

// How much is kept of a plugin's last output, to show while the host runs.
const (
	saidLines  = 10
	saidOfLine = 300 // bytes
)

// lastLines are the last lines that a plugin's processes wrote to standard error.
type lastLines struct {
	mu    sync.Mutex
	lines []string
}

func (l *lastLines) add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.lines) == saidLines {
		l.lines = slices.Delete(l.lines, 0, 1)
	}
	l.lines = append(l.lines, printable(line, saidOfLine))
}

func (l *lastLines) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.lines)
}

// Said returns the last lines that the plugin of that name wrote to standard error: at most 10 of
// 300 bytes, oldest first, with control characters removed. For a service there are none.
func (h *Host) Said(name string) []string {
	p, err := h.plugin(name)
	if err != nil {
		return nil
	}
	return p.said.all()
}
