package runner_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/runner"
)

// TestAutoRecoverWithoutAHookIsSaidOnce: without a hook nothing would be retried, which whoever set
// autoRecover did not mean.
func TestAutoRecoverWithoutAHookIsSaidOnce(t *testing.T) {
	told := func(t *testing.T, options ...runner.Option) int {
		var log bytes.Buffer
		logger := slog.New(slog.NewTextHandler(&log, nil))
		before := slog.Default()
		slog.SetDefault(logger)
		t.Cleanup(func() { slog.SetDefault(before) })
		r := runner.New(append(options, runner.WithModel(primary, script(answers("hello"))))...)
		for range 3 {
			if _, err := r.Run(t.Context(), "hi"); err != nil {
				t.Fatal(err)
			}
		}
		return strings.Count(log.String(), "no hook")
	}
	if n := told(t, runner.WithAutoRecover(true)); n != 1 {
		t.Errorf("said %d times, want once", n)
	}
	if n := told(t); n != 0 {
		t.Errorf("said %d times where runs are only offered their recovery", n)
	}
	if n := told(t, runner.WithAutoRecover(true), runner.WithHook("h", advise(retryNow))); n != 0 {
		t.Errorf("said %d times where there is a hook", n)
	}
	var own bytes.Buffer
	if n := told(t, runner.WithAutoRecover(true), runner.WithLogger(slog.New(slog.NewTextHandler(&own, nil)))); n != 0 || strings.Count(own.String(), "no hook") != 1 {
		t.Errorf("with a logger of its own: %d times elsewhere, and %s", n, own.String())
	}
}
