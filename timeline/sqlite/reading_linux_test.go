package sqlite

import (
	"errors"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/timeline"
)

// TestAStoreThatCannotBeMade is told in one sentence, although reading it fails, too: it is not there.
func TestAStoreThatCannotBeMade(t *testing.T) {
	s, err := openReading(t.Context(), "/sys/mulligan") // where not even root can make a folder
	if err == nil {
		t.Fatal(s.Close())
	}
	if !errors.Is(err, timeline.ErrReadOnly) || strings.Contains(err.Error(), "\n") {
		t.Errorf("it says %v", err)
	}
}
