package sqlite

import (
	"errors"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/timeline"
)

// TestWhatIsDueIsListedByWhoOnlyReads, and holds no lock of its own.
func TestWhatIsDueIsListedByWhoOnlyReads(t *testing.T) {
	dir := t.TempDir()
	open(t, dir)
	s, err := openReadOnly(t.Context(), dir, timeline.ErrReadOnly)
	if err != nil {
		t.Fatal(err)
	}
	reading := timeline.NewJournal(s)
	t.Cleanup(func() { _ = reading.Close() })
	for _, q := range []timeline.Query{{Due: time.Now()}, {Due: time.Now(), Needing: true}, {Waiting: true}, {}} {
		if list, err := reading.List(t.Context(), q); err != nil || len(list) != 0 {
			t.Errorf("%+v: %v, %v", q, list, err)
		}
	}
	if err := reading.SetSession(t.Context(), timeline.Session{ID: "s", Title: "Tea"}); !errors.Is(err, timeline.ErrReadOnly) {
		t.Errorf("it writes: %v", err)
	}
}
