package show

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// TestRunsFitTheTerminal: with labels, failures and days that are over a list has its rows on a line each.
func TestRunsFitTheTerminal(t *testing.T) {
	before := time.Now().Add(-30 * 24 * time.Hour)
	list := []timeline.Summary{
		{
			Run: "r01m8fnw9fmq4mhremf22sjg872", Status: recovery.StatusCancelled, Kind: failure.KindStreamInterrupted,
			Model: "anthropic/claude-sonnet-4-5", Title: "What is a mulligan, and who has had the first one?", StartedAt: before,
		},
		{Run: "r02m8fnw9fmq4mhremf22sjg872", Status: recovery.StatusCompleted, Model: "openai/gpt-5.2", Title: "Hello", StartedAt: before, Labels: `{"mulligan/kind":"decide"}`},
	}
	for _, c := range []struct {
		width    int
		labelled bool
	}{{80, false}, {140, true}} {
		var out bytes.Buffer
		s := New(&out, &out)
		s.LiveOut, s.width = true, c.width
		s.Runs(list, "here", false, false, nil)
		for line := range strings.Lines(out.String()) {
			if n := ansi.StringWidth(strings.TrimRight(line, " \n")); n > c.width {
				t.Errorf("%d columns in %d: %s", n, c.width, line)
			}
		}
		if got := strings.Contains(out.String(), "LABELS"); got != c.labelled || !strings.Contains(out.String(), "What is a m") {
			t.Errorf("%d columns: labels %t:\n%s", c.width, got, &out)
		}
	}
}
