package proxy

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/mulligan-run/mulligan/failure"
)

// Tally counts the outcomes of a Proxy's calls.
type Tally struct {
	mu       sync.Mutex
	calls    int
	retried  int
	switched map[string]int // by the model that answered
	lost     int
}

func (t *Tally) count(first, model string, attempts int, f *failure.Failure) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.calls++
	switch {
	case f != nil && !ofTheCaller(f):
		t.lost++
	case f != nil:
	case model != first:
		if t.switched == nil {
			t.switched = map[string]int{}
		}
		_, name, _ := strings.Cut(model, "/")
		t.switched[name]++
	case attempts > 1:
		t.retried++
	}
}

// String is one line for people: "2 calls rescued: 1 retried, 1 switched to gpt-5.2; 0 lost".
func (t *Tally) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	rescued := t.retried
	var how []string
	if t.retried > 0 {
		how = append(how, fmt.Sprintf("%d retried", t.retried))
	}
	var names []string
	for name := range t.switched {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		rescued += t.switched[name]
		how = append(how, fmt.Sprintf("%d switched to %s", t.switched[name], name))
	}
	line := fmt.Sprintf("%d calls rescued", rescued)
	if rescued == 1 {
		line = "1 call rescued"
	}
	if len(how) > 0 {
		line += ": " + strings.Join(how, ", ")
	}
	return fmt.Sprintf("%s; %d lost", line, t.lost)
}
