package history

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/mulligan-run/mulligan/timeline"
	"github.com/mulligan-run/mulligan/timeline/sqlite"
)

// checkTimeout is how long porcupine may take; these histories take it milliseconds.
const checkTimeout = time.Minute

// recorder keeps a history. It is safe for concurrent use.
type recorder struct {
	began time.Time

	mu      sync.Mutex
	history []porcupine.Operation
}

func newRecorder() *recorder { return &recorder{began: time.Now()} }

// record does what a client requests, and records the request and the reply.
func (r *recorder) record(client int, input any, do func() any) {
	call := time.Since(r.began)
	output := do()
	ended := time.Since(r.began)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.history = append(r.history, porcupine.Operation{
		ClientId: client, Input: input, Output: output, Call: call.Nanoseconds(), Return: ended.Nanoseconds(),
	})
}

// check checks the history against a model.
func (r *recorder) check(model porcupine.Model) porcupine.CheckResult {
	r.mu.Lock()
	defer r.mu.Unlock()
	return porcupine.CheckOperationsTimeout(model, r.history, checkTimeout)
}

// want fails the test unless the model permits the history.
func (r *recorder) want(t *testing.T, model porcupine.Model) {
	t.Helper()
	if got := r.check(model); got != porcupine.Ok {
		t.Errorf("a history of %d operations is %s:", len(r.history), got)
		for _, op := range r.history {
			t.Logf("%d–%d client %d: %+v: %+v", op.Call, op.Return, op.ClientId, op.Input, op.Output)
		}
	}
}

// wantIllegal fails the test unless the model finds the fault in the history.
func (r *recorder) wantIllegal(t *testing.T, model porcupine.Model) {
	t.Helper()
	if got := r.check(model); got != porcupine.Illegal {
		t.Errorf("the planted fault was not found: a history of %d operations is %s", len(r.history), got)
	}
}

// owners is how many there are.
const owners = 3

// everywhere runs a test with each kind of store, with a log for each owner.
func everywhere(t *testing.T, test func(t *testing.T, logs []timeline.Log)) {
	t.Helper()
	t.Run("memory", func(t *testing.T) {
		t.Parallel()
		test(t, separateOwners(timeline.NewMemory()))
	})
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		var logs []timeline.Log
		for range owners {
			store, err := sqlite.Open(t.Context(), dir)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := store.Close(); err != nil {
					t.Error(err)
				}
			})
			logs = append(logs, store)
		}
		test(t, logs)
	})
}

// separateOwners share a log of one process as if each were a process of its own.
func separateOwners(log timeline.Log) (logs []timeline.Log) {
	for n := range owners {
		logs = append(logs, tenant{log, string(rune('a' + n))})
	}
	return logs
}

type tenant struct {
	timeline.Log
	owner string
}

func (t tenant) Claim(ctx context.Context, run, _ string, ttl time.Duration) (timeline.Lease, error) {
	return t.Log.Claim(ctx, run, t.owner, ttl)
}

func (t tenant) Begin(
	ctx context.Context, run, _ string, ttl time.Duration, first func(timeline.Lease) []event,
) (timeline.Lease, error) {
	return t.Log.Begin(ctx, run, t.owner, ttl, first)
}

// staleLog is a log with a fault: it returns an old state of a run, gives the run to every claimer,
// and acknowledges writes without making them.
type staleLog struct {
	timeline.Log
	events []event
}

func (r staleLog) Read(context.Context, string, uint64, int) ([]event, error) { return r.events, nil }

func (r staleLog) LoadSnapshot(context.Context, string) (uint64, []byte, error) { return 0, nil, nil }

func (r staleLog) Inbox(context.Context, string, uint64, int) ([]timeline.Command, error) {
	return nil, nil
}

func (r staleLog) Claim(_ context.Context, run, owner string, ttl time.Duration) (timeline.Lease, error) {
	return timeline.Lease{Run: run, Owner: owner, Epoch: 99, Expires: time.Now().Add(ttl)}, nil
}

func (r staleLog) Append(context.Context, timeline.Lease, uint64, ...event) error { return nil }

func (r staleLog) Release(context.Context, timeline.Lease) error { return nil }
