package timeline_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
	"github.com/mulligan-run/mulligan/timeline/timelinetest"
)

func TestMemory(t *testing.T) {
	timelinetest.Run(t, func(t *testing.T) timeline.Log {
		m := timeline.NewMemory()
		t.Cleanup(func() { _ = m.Close() })
		return m
	})
}

func TestMemoryStore(t *testing.T) {
	timelinetest.Store(t, func(*testing.T) timeline.Store { return timeline.NewMemoryStore() })
}

// TestNobodyFollowsForNothing: the owner of a run always follows its inbox; live text costs nothing
// if nobody else follows.
func TestNobodyFollowsForNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := timeline.NewMemory()
		started := recovery.Event{Run: "r", Seq: 1, Time: time.Now(), Body: recovery.Started{Model: "a/one"}}
		if err := m.Import(t.Context(), started); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			for range m.Commands(ctx, "r", 0) {
			}
		}()
		synctest.Wait()
		if n := testing.AllocsPerRun(100, func() { m.Publish("r", timeline.Delta{Text: "x"}) }); n > 0 {
			t.Errorf("%v allocations", n)
		}
		cancel()
	})
}
