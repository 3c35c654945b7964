package pitest

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// Build makes a program that plays Pi, for tests that start it often: their own binary is
// large, and slow with the race detector. The repository is at root.
func Build(t *testing.T, root string) (program string) {
	t.Helper()
	program = filepath.Join(t.TempDir(), "player")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./provider/pi/pitest/player")
	build.Dir = root
	if said, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	return program
}
