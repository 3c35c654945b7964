package pi

import (
	"strings"
	"sync"
)

const maxErrors = 16 << 10 // bytes of the end of stderr

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	kept []byte
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, b[max(0, len(b)-maxErrors):]...)
	if over := len(t.kept) - maxErrors; over > 0 {
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
	return len(b), nil
}

// text is what was kept, the last lines of it.
func (t *tail) text() string {
	const most = 20
	t.mu.Lock()
	defer t.mu.Unlock()
	list := strings.Split(strings.TrimSpace(strings.ToValidUTF8(string(t.kept), "\uFFFD")), "\n")
	return strings.Join(list[max(0, len(list)-most):], "\n")
}

// lastLine is the last line with anything in it.
func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
}
