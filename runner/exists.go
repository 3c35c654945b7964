package runner

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"sync"

	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// ExistsError says that a run with a Request's id exists already.
type ExistsError struct {
	Run         string
	Fingerprint string // of the request that began the run
}

// Error names the run.
func (e *ExistsError) Error() string { return "there is a run " + e.Run + " already" }

var idForm = regexp.MustCompile(`^[a-z0-9-]{1,64}$`)

// vacant says why no run can begin with that id; nil if one can.
func (r *Runner) vacant(ctx context.Context, id string) error {
	if !idForm.MatchString(id) {
		return fmt.Errorf("%q is not an id: use 1 to 64 small letters, digits and '-'", words.Clip(id, 80))
	}
	events, err := r.log.Read(ctx, id, 0, 1)
	if err != nil && !errors.Is(err, timeline.ErrNotFound) {
		return err
	}
	if len(events) == 0 {
		return nil
	}
	started, _ := events[0].Body.(recovery.Started)
	return &ExistsError{Run: id, Fingerprint: started.Fingerprint}
}

// locks has one lock per name, for as long as somebody holds it or waits for it.
type locks struct {
	mu    sync.Mutex
	names map[string]*heldLock
}

type heldLock struct {
	mu    sync.Mutex
	users int
}

// lock waits for the lock of that name. unlock may be called again, and then does nothing; no two
// goroutines may call it at a time.
func (l *locks) lock(name string) (unlock func()) {
	l.mu.Lock()
	if l.names == nil {
		l.names = map[string]*heldLock{}
	}
	held := l.names[name]
	if held == nil {
		held = &heldLock{}
		l.names[name] = held
	}
	held.users++
	l.mu.Unlock()
	held.mu.Lock()
	return func() {
		if held == nil {
			return
		}
		held.mu.Unlock()
		l.mu.Lock()
		defer l.mu.Unlock()
		if held.users--; held.users == 0 {
			delete(l.names, name)
		}
		held = nil
	}
}
