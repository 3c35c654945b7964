package gateway_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/internal/needs"
)

const examples = "../examples"

// TestAskers: programs of other languages ask from the proto by their own gRPC, and do what they are told.
func TestAskers(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles with cargo and with Maven")
	}
	cache, err := filepath.Abs("../.cache")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		needs []string
		build []string
		run   []string
	}{
		{
			"Rust",
			[]string{"cargo"},
			[]string{"cargo", "build", "--quiet", "--manifest-path", examples + "/asker-rust/Cargo.toml", "--target-dir", cache + "/rust"},
			[]string{cache + "/rust/debug/asker-rust"},
		},
		{
			"Java",
			[]string{"java", "mvn"},
			[]string{"mvn", "--quiet", "--batch-mode", "--file", examples + "/asker-java", "package"},
			[]string{"java", "-jar", examples + "/asker-java/target/asker-java.jar"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			needs.Programs(t, "the example that asks in "+c.name, c.needs...)
			if out, err := exec.CommandContext(t.Context(), c.build[0], c.build[1:]...).CombinedOutput(); err != nil { //nolint:gosec // the test's own
				t.Fatalf("%v: %s", err, out)
			}
			ask := func(url, token string) (stdout, stderr string, err error) {
				cmd := exec.CommandContext(t.Context(), c.run[0], append(c.run[1:], url)...) //nolint:gosec // the test's own
				// A busy machine is no reason to go on without Mulligan here.
				cmd.Env = append(os.Environ(), "MULLIGAN_TOKEN="+token, "MULLIGAN_TIMEOUT_MS=10000")
				out, err := cmd.Output()
				if failed := (*exec.ExitError)(nil); errors.As(err, &failed) {
					stderr = string(failed.Stderr)
				}
				return string(out), stderr, err
			}
			url, token := adviceServer(t)
			const want = "anthropic/claude-sonnet-4-5: status 529; now openai/gpt-5.2: the other one is well\nopenai/gpt-5.2: Hello\n"
			if out, said, err := ask(url, token); err != nil || out != want {
				t.Errorf("%v: %q, %q", err, out, said)
			}
			if out, said, err := ask(url, "nobody's"); err == nil || out != "" || !strings.Contains(said, "without Mulligan") {
				t.Errorf("with a wrong token: %v: %q, %q", err, out, said)
			}
		})
	}
}
