package host

import (
	"slices"
	"sync"
)

// What is kept of what a plugin said last, for people who look at it while the host runs.
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

// Said are the last lines that the plugin of that name wrote to standard error, at most 10 of 300
// bytes, the oldest first. They are as the plugin wrote them, without control characters; a
// service's are not known.
func (h *Host) Said(name string) []string {
	p, err := h.plugin(name)
	if err != nil {
		return nil
	}
	return p.said.all()
}
