package disk

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

func TestMain(m *testing.M) {
	if name := os.Getenv(childTrouble); name != "" {
		child(name, os.Getenv(childFolder))
	}
	os.Exit(m.Run())
}

// TestI33TheFileIsAsLargeAsItMayBe: RLIMIT_FSIZE stops the store's file from growing.
func TestI33TheFileIsAsLargeAsItMayBe(t *testing.T) {
	out, err := troubled(t, "limited").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	wantNotice(t, string(out), "The run waits for its store: ")
}

// TestI33TheDiskIsFull: the store is on a small disk of its own, in a mount namespace.
func TestI33TheDiskIsFull(t *testing.T) {
	wantNotice(t, onSmallDisk(t, "full"), "The run waits for its store: no space left on device. It goes on by itself.")
}

// TestI33AFullDiskIsReadAndPruned: runs on a full disk can be listed and read, and deleting some of
// them makes room.
func TestI33AFullDiskIsReadAndPruned(t *testing.T) {
	if testing.Short() {
		t.Skip("it fills 48 MiB with events")
	}
	wantNotice(t, onSmallDisk(t, "prune"), "")
}

// onSmallDisk returns the output of a child with a small disk of its own.
func onSmallDisk(t *testing.T, name string) string {
	t.Helper()
	cmd := troubled(t, name)
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	if err != nil && (len(out) == 0 || strings.HasPrefix(string(out), "cannot mount")) {
		const missing = "no disk of its own: user and mount namespaces are not allowed here"
		if os.Getenv("CI") == "true" {
			t.Fatalf("%s: %v: %s", missing, err, out)
		}
		t.Skipf("SKIPPED, %s: %v: %s", missing, err, out)
	}
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

func troubled(t *testing.T, name string) *exec.Cmd {
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childTrouble+"="+name, childFolder+"="+t.TempDir())
	return cmd
}

func wantNotice(t *testing.T, out, notice string) {
	t.Helper()
	if !strings.HasPrefix(out, notice) || !strings.HasSuffix(out, "ok\n") {
		t.Errorf("the child says %q", out)
	}
	t.Log(strings.TrimSpace(out))
}

func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}
