package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
)

// onDiskOfItsOwn runs a shell script where it may mount, with the state's folder as $STATE,
// and gives what it prints.
func (h *home) onDiskOfItsOwn(script string) string {
	h.Helper()
	cmd := h.command()
	cmd.Path, cmd.Args = "/bin/sh", []string{"sh", "-c", "mount --bind \"$STATE\" \"$STATE\" || exit 77\n" + script}
	cmd.Env = append(cmd.Env, "STATE="+h.state())
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		const unmounted = 77
		const missing = "no disk of its own: user and mount namespaces are not allowed here"
		if cmd.ProcessState != nil && cmd.ProcessState.ExitCode() != unmounted {
			h.Fatalf("%v: %s", err, &out)
		}
		if os.Getenv("CI") == "true" {
			h.Fatalf("%s: %v: %s", missing, err, &out)
		}
		h.Skipf("SKIPPED, %s: %v: %s", missing, err, &out)
	}
	return out.String()
}

// say is a line of a script that tells what a verb prints, and how it exits.
func say(verb string) string {
	return fmt.Sprintf("echo \"== %[1]s\"; mulligan %[1]s </dev/null 2>&1; echo \"=> $?\"\n", verb)
}

// saidOf is what a verb has said in the output of such a script.
func saidOf(t *testing.T, out, verb string) string {
	t.Helper()
	_, rest, ok := strings.Cut(out, "== "+verb+"\n")
	if !ok {
		t.Fatalf("no %q in %s", verb, out)
	}
	said, code, _ := strings.Cut(rest, "\n=> ")
	code, _, _ = strings.Cut(code, "\n")
	return said + " => " + code
}

// crashed makes a store with a run that was killed, so that its write-ahead log is left, and one
// that has ended.
func crashed(t *testing.T) (h *home, run string) {
	t.Helper()
	h = newHome(t, "answer:Hello., stall:Hello wor")
	h.mulligan(0, "run", "--session", "s", "hi")
	list := h.mulligan(0, "runs", "list", "--json")
	run, _, _ = strings.Cut(list[strings.Index(list, `"run":"`)+len(`"run":"`):], `"`)
	h.kill(stalled, nil, "--session", "s", "again")
	if _, err := os.Stat(h.state() + "/timeline.db-wal"); err != nil {
		t.Fatalf("there is no write-ahead log: %v", err)
	}
	return h, run
}

// TestVerbsOnAReadOnlyDisk: what reads works, and what writes says why it cannot and what to do.
func TestVerbsOnAReadOnlyDisk(t *testing.T) {
	t.Parallel()
	h, run := crashed(t)
	reading := map[string]string{
		"runs list": "again", "runs show " + run: "Hello.", "runs events " + run: `"ended"`, "runs export " + run: `"ended"`, "sessions list": "s ",
		"sessions show s": "Hello.", "runs prune --older 1s --dry-run": "nothing to delete", "plugin replay auto-recover": "No failure was found.", "plugin list": "auto-recover",
	}
	writing := []string{
		"runs delete " + run, "runs prune --older 1s", "runs cancel " + run, "runs resume " + run, "recover " + run, "run hi", "serve --listen 127.0.0.1:0", "doctor",
		"demo --state \"$STATE\"",
	}
	for _, closed := range []bool{false, true} {
		t.Run(fmt.Sprintf("the log is empty: %t", closed), func(t *testing.T) {
			if closed {
				h.mulligan(0, "runs", "list") // which closes the store properly
			}
			script := "mount -o remount,bind,ro \"$STATE\" || exit 77\n"
			for verb := range reading {
				script += say(verb)
			}
			for _, verb := range writing {
				script += say(verb)
			}
			out := h.onDiskOfItsOwn(script)
			for verb, want := range reading {
				if said := saidOf(t, out, verb); !strings.Contains(said, want) || !strings.HasSuffix(said, " => 0") {
					t.Errorf("%s: %s", verb, said)
				}
			}
			for _, verb := range writing {
				said := saidOf(t, out, strings.ReplaceAll(verb, `"$STATE"`, h.state()))
				if !strings.Contains(said, "it cannot be written to: make the folder, its files and its disk writable") || !strings.HasSuffix(said, " => 1") {
					t.Errorf("%s: %s", verb, said)
				}
			}
		})
	}
}

// TestVerbsOnAFullDisk: runs are listed and read, and deleting them makes room.
func TestVerbsOnAFullDisk(t *testing.T) {
	t.Parallel()
	h := newHome(t, "answer:Hello.")
	h.mulligan(0, "run", "hi")
	fill := "dd if=/dev/zero of=\"$STATE/ballast\" bs=1k 2>/dev/null; dd if=/dev/zero bs=1 of=\"$STATE/more\" 2>/dev/null\n"
	out := h.onDiskOfItsOwn("mount -t tmpfs -o size=4m,mode=0700 tmpfs \"$STATE\" || exit 77\n" +
		"for n in 1 2 3; do mulligan run \"hi $n\" >/dev/null || exit 1; done\n" +
		"echo \"$(mulligan runs list --json | head -n 1)\"\n" + fill +
		say("runs list") + say("runs export --all") + say("doctor") + say("run hello") + "sleep 1.1\n" + say("runs prune --older 1s") +
		"rm \"$STATE/more\" \"$STATE/ballast\"\n" + say("run again"))
	for verb, want := range map[string]string{
		"runs list": "completed", "runs export --all": "Hello.", "runs prune --older 1s": "Deleted 3 runs", "run again": "Hello.",
	} {
		if said := saidOf(t, out, verb); !strings.Contains(said, want) || !strings.HasSuffix(said, " => 0") {
			t.Errorf("%s: %s", verb, said)
		}
	}
	for _, verb := range []string{"run hello"} {
		if said := saidOf(t, out, verb); !strings.Contains(said, "no space left on device") || !strings.HasSuffix(said, " => 1") {
			t.Errorf("%s: %s", verb, said)
		}
	}
}
