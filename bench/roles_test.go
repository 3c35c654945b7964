package bench

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/timeline/postgres/pgtest"
)

// roles are what this test binary can be started as, by its first argument.
var roles = map[string]func(args []string) error{}

func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		if role := roles[os.Args[1]]; role != nil {
			if err := role(os.Args[2:]); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			os.Exit(0)
		}
	}
	os.Exit(pgtest.Main(m))
}

// process starts this binary in a role and returns the line that the role prints when it is ready.
// The process ends when its standard input does.
func process(b *testing.B, role string, args ...string) (ready string) {
	b.Helper()
	_, ready, stop := launch(b, role, args...)
	b.Cleanup(stop)
	return ready
}

// launch is process for callers that need the process id and end the process themselves.
func launch(b *testing.B, role string, args ...string) (pid int, ready string, stop func()) {
	b.Helper()
	exe, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.CommandContext(b.Context(), exe, append([]string{role}, args...)...)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	stop = func() {
		_ = stdin.Close()
		_ = cmd.Wait()
	}
	ready, err = bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		stop()
		b.Fatalf("the %s process did not start: %v", role, err)
	}
	return cmd.Process.Pid, strings.TrimSpace(ready), stop
}

// serveUntilEOF prints that a role is ready and waits until its parent has ended.
func serveUntilEOF(ready string) error {
	fmt.Println(ready)
	_, err := io.Copy(io.Discard, os.Stdin)
	return err
}
