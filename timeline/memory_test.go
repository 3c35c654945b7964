package timeline_test

import (
	"testing"

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
