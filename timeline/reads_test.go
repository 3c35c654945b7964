package timeline

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
)

// slowSource has one long event in each run, and counts who reads at a time.
type slowSource struct {
	feedSource
	now, most, reads atomic.Int64
}

func (s *slowSource) Read(_ context.Context, run string, after uint64, _ int) ([]recovery.Event, error) {
	s.reads.Add(1)
	if now := s.now.Add(1); now > s.most.Load() {
		s.most.Store(now)
	}
	defer s.now.Add(-1)
	time.Sleep(time.Millisecond)
	if after > 0 {
		return nil, nil
	}
	return []recovery.Event{{Run: run, Seq: 1, Body: recovery.Failed{Text: strings.Repeat("x", longBatch)}}}, nil
}

// TestALongBatchIsReadOnce: concurrent readers share one read, which is repeated once nobody uses
// it any more or the run was deleted.
func TestALongBatchIsReadOnce(t *testing.T) {
	source := &slowSource{}
	r := newReads(source)
	var all sync.WaitGroup
	batches := make([]*batch, 16)
	for i := range batches {
		all.Go(func() {
			b, last, err := r.after(t.Context(), "r", 0)
			if err != nil || len(b.events) != 1 {
				t.Error(b, err)
			}
			if batches[i] = b; !last {
				if after, last, err := r.after(t.Context(), "r", 1); err != nil || !last || len(after.events) > 0 {
					t.Error(after, last, err)
				}
			}
		})
	}
	all.Wait()
	for _, b := range batches {
		if b != batches[0] {
			t.Fatal("it was read twice")
		}
	}
	if source.most.Load() != 1 {
		t.Errorf("%d read at a time", source.most.Load())
	}
	r.drop("r")
	if b, _, _ := r.after(t.Context(), "r", 0); b == batches[0] {
		t.Error("what was deleted is found")
	}
	runtime.KeepAlive(batches)
	clear(batches)
	for tries := 0; len(r.long) > 0; tries++ {
		if tries == 1000 {
			t.Fatal("it is kept though nobody has it")
		}
		runtime.GC()
		time.Sleep(time.Millisecond)
		r.forget(position{"r", 0})
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	done, err := r.wait(t.Context(), "r")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.wait(gone, "r"); !errors.Is(err, context.Canceled) {
		t.Errorf("who has gone waits: %v", err)
	}
	if done(); len(r.runs) > 0 {
		t.Errorf("%d are waited for", len(r.runs))
	}
}
