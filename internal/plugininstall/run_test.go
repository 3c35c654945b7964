package plugininstall

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

func TestRun(t *testing.T) {
	in := anInstaller(t.TempDir())
	t.Setenv("ANTHROPIC_API_KEY", "secret")
	t.Setenv("PIP_INDEX_URL", "https://example.com/simple")
	said, err := in.run(t.Context(), tool{program: "sh", args: []string{"-c", `echo "$ANTHROPIC_API_KEY-$PIP_INDEX_URL-$MORE"; cat`}, env: []string{"MORE=more"}})
	if err != nil || string(said) != "-https://example.com/simple-more\n" {
		t.Errorf("it got %q, %v", said, err)
	}
	_, err = in.run(t.Context(), tool{program: "sh", args: []string{"-c", "echo 'no https://me:pw@example.com/x\x1b[2J' >&2; exit 1"}})
	if err == nil || !strings.Contains(err.Error(), "sh failed: no https://…@example.com/x") || strings.ContainsRune(err.Error(), '\x1b') {
		t.Error(err)
	}
	if _, err = in.run(t.Context(), tool{program: "no-such-manager", needs: "Some 1.0"}); err == nil || !strings.Contains(err.Error(), "needs Some 1.0") {
		t.Error(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	impatient := errors.New("impatient")
	time.AfterFunc(50*time.Millisecond, func() { cancel(impatient) })
	if _, err = in.run(ctx, tool{program: "sh", args: []string{"-c", "sleep 1000"}}); !errors.Is(err, impatient) {
		t.Error(err)
	}
}
