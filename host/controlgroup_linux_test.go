package host

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mulligan-run/mulligan/internal/procgroup"
)

const delegated = "hugetlb"

func init() {
	if os.Getenv("FAULT") == "delegate" {
		delegate(os.Getenv("DELEGATED"), delegated)
		os.Exit(0)
	}
}

func TestOwnControlGroup(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct{ mounts, groups, want string }{
		"version 2":   {"30 23 0:26 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw,nsdelegate\n", "0::/user.slice/a.scope\n", "/sys/fs/cgroup/user.slice/a.scope"},
		"both":        {"1 2 0:3 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n", "9:pids:/x\n0::/\n", "/sys/fs/cgroup/unified"},
		"a container": {"41 31 0:38 /docker/1 /sys/fs/cgroup ro - cgroup2 cgroup2 ro\n", "0::/docker/1/sub\n", "/sys/fs/cgroup/sub"},
		"elsewhere":   {"41 31 0:38 /docker/1 /sys/fs/cgroup ro - cgroup2 cgroup2 ro\n", "0::/docker/2\n", ""},
		"version 1":   {"1 2 0:3 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n", "9:pids:/x\n", ""},
	} {
		mounts, groups := filepath.Join(dir, "mounts"), filepath.Join(dir, "groups")
		write(t, dir, map[string]string{"mounts": c.mounts, "groups": c.groups})
		if got, err := ownControlGroup(mounts, groups); got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s: %s %v", name, got, err)
		}
	}
}

// What is written where the kernel offers limits, seen in a folder of ordinary files.
func TestAControlGroupIsLimited(t *testing.T) {
	folder := t.TempDir()
	g := newControlGroup(folder, Limits{}.orDefaults())
	if g.limitsMemory() {
		t.Error("limits without a kernel that has any")
	}
	write(t, g.path, map[string]string{"memory.max": "max", "memory.events": "low 0\noom 1\noom_kill 1\noom_group_kill 0\n", "pids.max": "max", "cgroup.procs": "12\n13\n", "cgroup.kill": ""})
	if g.outOfMemory() {
		t.Error("killed for memory that is not limited")
	}
	g.memory = true
	g.kill()
	killed, _ := os.ReadFile(filepath.Join(g.path, "cgroup.kill"))
	if !g.outOfMemory() || string(killed) != "1" || len(g.members()) != 2 {
		t.Errorf("%s %v", killed, g.members())
	}
	_ = os.RemoveAll(g.path)
	g.remove()
}

// A host that is alone in a delegated group moves below, and groups beside it get
// limits; one with company stays where it is. The controller is one that systems with
// control groups of both versions leave to version 2.
func TestDelegate(t *testing.T) {
	folder := groupFolder()
	if folder == "" {
		t.Skip("NOT TESTED: no control groups are delegated here")
	}
	if available, err := os.ReadFile(filepath.Join(folder, "cgroup.subtree_control")); err != nil || !hasWords(available, []string{delegated}) {
		t.Skipf("NOT TESTED: %s is not given to groups here", delegated)
	}
	for _, company := range []bool{false, true} {
		g := newControlGroup(folder, Limits{}.orDefaults())
		t.Cleanup(func() { g.kill(); g.remove() })
		if company {
			if _, _, err := spawn(faultyProgram("silent"), Limits{}.orDefaults(), g); err != nil {
				t.Fatal(err)
			}
		}
		host, _, err := spawn(faultyProgram("delegate", "DELEGATED="+g.path), Limits{}.orDefaults(), g)
		if err != nil {
			t.Fatal(err)
		}
		<-host.Exited()
		enabled, err := os.ReadFile(filepath.Join(g.path, "cgroup.subtree_control"))
		if err != nil || hasWords(enabled, []string{delegated}) == company {
			t.Errorf("company %v: %q %v", company, enabled, err)
		}
		below, _ := filepath.Glob(filepath.Join(g.path, "*-host"))
		if len(below) == 1 == company {
			t.Errorf("company %v: %v", company, below)
		}
		for _, dir := range below {
			_ = os.Remove(dir)
		}
	}
}

// faultyProgram is this program with that fault, and with more in its environment.
func faultyProgram(fault string, more ...string) procgroup.Program {
	return procgroup.Program{
		Path: os.Args[0], Args: os.Args[:1], Env: append(append(os.Environ(), "FAULT="+fault), more...),
		Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: os.Stderr,
	}
}

// TestGroupsWithinAGroup: what a plugin's process moves to a group of its own is still the plugin's.
func TestGroupsWithinAGroup(t *testing.T) {
	folder := groupFolder()
	if folder == "" {
		t.Skip("NOT TESTED: no control groups are delegated here")
	}
	g := newControlGroup(folder, Limits{}.orDefaults())
	process, _, err := spawn(faultyProgram("silent"), Limits{}.orDefaults(), g)
	if err != nil {
		t.Fatal(err)
	}
	if most, err := os.ReadFile(filepath.Join(g.path, "cgroup.max.descendants")); err != nil || string(most) != "64\n" {
		t.Errorf("it may have %q groups, %v", most, err)
	}
	within := filepath.Join(g.path, "within")
	if err := os.Mkdir(within, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := writeGroup(within, "cgroup.procs", itoa(process.PID())); err != nil {
		t.Fatal(err)
	}
	if pids := g.members(); !slices.Equal(pids, []int{process.PID()}) {
		t.Errorf("its processes are %v, not %d", pids, process.PID())
	}
	g.kill()
	<-process.Exited()
	g.remove()
	if _, err := os.Stat(g.path); err == nil {
		t.Error("the group is left")
	}
}

func TestSweepGroups(t *testing.T) {
	folder := groupFolder()
	if folder == "" {
		t.Skip("NOT TESTED: no control groups are delegated here")
	}
	dead := filepath.Join(folder, folderPrefix+"2147483646-1-"+procgroup.Namespace()+"-1")
	if err := os.Mkdir(dead, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dead, "made by its plugin"), 0o755); err != nil {
		t.Fatal(err)
	}
	ours := newControlGroup(folder, Limits{}.orDefaults())
	sweepGroups(folder)
	if _, err := os.Stat(dead); err == nil {
		t.Error("a dead host's group is left")
	}
	if _, err := os.Stat(ours.path); err != nil {
		t.Error("a living host's group is removed")
	}
	ours.remove()
}

// TestAClosedHostLeavesNoGroup: nobody may start Mulligan again who would remove it.
func TestAClosedHostLeavesNoGroup(t *testing.T) {
	folder := groupFolder()
	if folder == "" {
		t.Skip("NOT TESTED: no control groups are delegated here")
	}
	h := faultyHost(t, "ok", "")
	if err := h.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	var its string
	pid := h.Statuses()[0].PID
	groups, _ := filepath.Glob(filepath.Join(folder, groupName()+"-*"))
	for _, path := range groups {
		if slices.Contains((&controlGroup{path: path}).members(), pid) {
			its = path
		}
	}
	if its == "" {
		t.Fatalf("the plugin is in none of %v", groups)
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(its); err == nil {
		t.Error("its group is left")
	}
}

// The limits that a plugin runs under.
func TestLimitsAreSet(t *testing.T) {
	t.Parallel()
	h := faultyHost(t, "ok", "")
	if err := h.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	pid := h.Statuses()[0].PID
	for resource, want := range map[int]uint64{unix.RLIMIT_NOFILE: 256, unix.RLIMIT_CORE: 0, unix.RLIMIT_FSIZE: 64 << 20} {
		var now unix.Rlimit
		if err := unix.Prlimit(pid, resource, nil, &now); err != nil || now.Max != want || now.Cur > want {
			t.Errorf("%d: %+v %v", resource, now, err)
		}
	}
	if score, _ := os.ReadFile("/proc/" + itoa(pid) + "/oom_score_adj"); strings.TrimSpace(string(score)) != "500" {
		t.Errorf("oom_score_adj %s", score)
	}
}

// What a killed host's plugin left behind is found by its environment, wherever it went.
func TestSweepKillsOrphans(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	write(t, parent, map[string]string{"mulligan-dead/" + ownerFile: "2147483646 " + startOf(t)})
	dead := filepath.Join(parent, "mulligan-dead")
	if err := os.Chmod(dead, 0o700); err != nil {
		t.Fatal(err)
	}
	ended := map[string]chan error{}
	for name, variable := range map[string]string{"orphan": dead + "/plugin-dir1", "stranger": dead + "er/plugin-dir1"} {
		cmd := exec.Command("sleep", "300")
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), socketVariable + "=" + variable}
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		over := make(chan error, 1)
		ended[name] = over
		go func() { over <- cmd.Wait() }()
		t.Cleanup(func() { _ = cmd.Process.Kill() })
	}
	sweep(parent, time.Now().Add(time.Hour))
	select {
	case <-ended["orphan"]:
	case <-time.After(5 * time.Second):
		t.Error("the orphan lives")
	}
	select {
	case <-ended["stranger"]:
		t.Error("a stranger was killed")
	default:
	}
	if _, err := os.Stat(dead); err == nil {
		t.Error("the folder is left")
	}
}
