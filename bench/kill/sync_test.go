package kill

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/internal/needs"
)

// TestAcknowledgedAfterSync traces a process's system calls: between the writes of an append to the
// store's write-ahead log and its acknowledgement there must be a sync (I03).
func TestAcknowledgedAfterSync(t *testing.T) {
	acks, wrong := traced(t, "")
	if acks < 10 {
		t.Errorf("only %d acknowledgements were traced", acks)
	}
	t.Logf("%d acknowledgements", acks)
	for _, w := range wrong {
		t.Errorf("I03: %s", w)
	}
}

// TestSyncCheckFindsAMissingSync shows that the check can fail.
func TestSyncCheckFindsAMissingSync(t *testing.T) {
	for _, fault := range []string{faultEarlyAck, faultNoSync} {
		t.Run(fault, func(t *testing.T) {
			if acks, wrong := traced(t, fault); acks == 0 || len(wrong) == 0 {
				t.Errorf("nothing was found in %d acknowledgements", acks)
			}
		})
	}
}

// traced runs a child with a planted fault under strace, and checks its trace.
func traced(t *testing.T, fault string) (acks int, wrong []string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("NOT TESTED: strace, which sees whether an acknowledgement follows a sync, is Linux's")
	}
	needs.Programs(t, "seeing whether an acknowledgement follows a sync", "strace")
	c := newCycle(t, 1, named("after started")[0])
	trace := filepath.Join(t.TempDir(), "trace")
	args := []string{"strace", "-f", "-y", "-s", "16", "-e", "trace=write,pwrite64,fsync,fdatasync", "-o", trace, os.Args[0]}
	c.plan.Fault = fault
	cmd, pipe, stderr := childProcess(t, c.plan.String(), args...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.ExtraFiles[0].Close()
	listen(pipe, func(line) {})
	if err := cmd.Wait(); err != nil {
		t.Fatalf("under strace: %v\n%s", err, stderr)
	}
	text, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	return unsynced(string(text))
}

// The lines of a trace, each after strace's pid.
var (
	walWrite = regexp.MustCompile(`^\d+ +p?write(?:64)?\(\d+<[^>]*-wal>`)
	walSync  = regexp.MustCompile(`^(\d+) +f(?:data)?sync\(\d+<[^>]*-wal>(?:\) += 0| <unfinished \.\.\.>)`)
	resumed  = regexp.MustCompile(`^(\d+) +<\.\.\. f(?:data)?sync resumed>\) += 0`)
	ack      = regexp.MustCompile(`^\d+ +write\(3<[^>]*>, "acked `)
)

// unsynced counts the acknowledgements in a trace, and returns those before which the write-ahead
// log was not synced after its last write, or not written at all.
func unsynced(trace string) (acks int, wrong []string) {
	written, unsynced := false, false
	began := map[string]bool{} // syncs in progress, by thread
	for text := range strings.Lines(trace) {
		text = strings.TrimSpace(text)
		switch {
		case walWrite.MatchString(text):
			written, unsynced = true, true
			clear(began) // a sync that began earlier does not cover this write
		case walSync.MatchString(text):
			if strings.HasSuffix(text, "<unfinished ...>") {
				began[walSync.FindStringSubmatch(text)[1]] = true
			} else {
				unsynced = false
			}
		case resumed.MatchString(text):
			if began[resumed.FindStringSubmatch(text)[1]] {
				unsynced = false
			}
		case ack.MatchString(text):
			acks++
			switch {
			case unsynced:
				wrong = append(wrong, fmt.Sprintf("acknowledgement %d comes before the sync: %s", acks, text))
			case !written:
				wrong = append(wrong, fmt.Sprintf("acknowledgement %d comes without a write: %s", acks, text))
			}
			written = false
		}
	}
	return acks, wrong
}
