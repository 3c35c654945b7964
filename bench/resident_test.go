package bench

import (
	"bytes"
	"os"
	"os/exec"
	"strconv"
	"testing"
)

// residentMB is a process's resident memory, in millions of bytes: from /proc if there is one, else
// from ps.
func residentMB(b *testing.B, pid int) float64 {
	b.Helper()
	id, number, unit := strconv.Itoa(pid), 1, os.Getpagesize()
	text, err := os.ReadFile("/proc/" + id + "/statm") // "size resident …", pages
	if err != nil {
		text, err = exec.CommandContext(b.Context(), "ps", "-o", "rss=", "-p", id).Output()
		number, unit = 0, 1<<10
	}
	fields := bytes.Fields(text)
	if err != nil || len(fields) <= number {
		b.Fatalf("the memory of process %d: %q, %v", pid, text, err)
	}
	n, err := strconv.Atoi(string(fields[number]))
	if err != nil {
		b.Fatal(err)
	}
	return float64(n*unit) / 1e6
}
