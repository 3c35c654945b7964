package host

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mulligan-run/mulligan/internal/procgroup"
)

// controlGroup is a cgroup (version 2) that one process of a plugin and its
// descendants cannot leave. A nil one means there is none, and process groups have to
// do.
type controlGroup struct {
	path   string
	memory bool // the kernel enforces the memory limit
}

// groupFolder is the host's own control group if the host may create others in it,
// because it was delegated to the host, as it is for a user's desktop programs.
var groupFolder = sync.OnceValue(func() string {
	dir, err := ownControlGroup("/proc/self/mountinfo", "/proc/self/cgroup")
	if err != nil {
		return ""
	}
	probe := filepath.Join(dir, groupName()+"-probe")
	if os.Mkdir(probe, 0o755) != nil {
		return ""
	}
	_, err = os.Stat(filepath.Join(probe, "cgroup.kill")) // Linux 5.14
	if os.Remove(probe) != nil || err != nil {
		return ""
	}
	delegate(dir, "memory", "pids")
	return dir
})

// ownControlGroup finds this process's folder in the cgroup file system.
func ownControlGroup(mounts, groups string) (string, error) {
	text, err := os.ReadFile(groups)
	if err != nil {
		return "", err
	}
	_, group, ok := strings.Cut("\n"+string(text), "\n0::")
	if !ok {
		return "", errors.New("no control groups of version 2")
	}
	group, _, _ = strings.Cut(group, "\n")
	text, err = os.ReadFile(mounts)
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(text)) {
		mount, kind, _ := strings.Cut(line, " - ")
		fields := strings.Fields(mount)
		if !strings.HasPrefix(kind, "cgroup2 ") || len(fields) < 5 {
			continue
		}
		if below, err := filepath.Rel(fields[3], group); err == nil && filepath.IsLocal(below) {
			return filepath.Join(fields[4], below), nil
		}
	}
	return "", errors.New("the file system of control groups is not mounted")
}

// delegate enables limits for groups in dir. A group that contains processes cannot
// give limits to its children, so the host moves into a child group, if it is alone in
// dir.
func delegate(dir string, controllers ...string) {
	available, err := os.ReadFile(filepath.Join(dir, "cgroup.controllers"))
	if err != nil || !hasWords(available, controllers) {
		return
	}
	control := filepath.Join(dir, "cgroup.subtree_control")
	if enabled, err := os.ReadFile(control); err == nil && hasWords(enabled, controllers) {
		return
	}
	own := strconv.Itoa(os.Getpid())
	members, err := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
	if err != nil || strings.TrimSpace(string(members)) != own {
		return
	}
	below := filepath.Join(dir, groupName()+"-host")
	if os.Mkdir(below, 0o755) != nil {
		return
	}
	if err := writeGroup(below, "cgroup.procs", own); err == nil {
		if err = writeGroup(dir, "cgroup.subtree_control", "+"+strings.Join(controllers, " +")); err == nil {
			return
		}
		_ = writeGroup(dir, "cgroup.procs", own)
	}
	_ = os.Remove(below)
}

func hasWords(text []byte, words []string) bool {
	have := strings.Fields(string(text))
	return !slices.ContainsFunc(words, func(w string) bool { return !slices.Contains(have, w) })
}

func writeGroup(dir, name, value string) error {
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(value)
	return errors.Join(err, f.Close())
}

// groupName is the prefix of this host's groups; see sweepGroups.
func groupName() string {
	stat, _ := procgroup.ReadStat(os.Getpid())
	return fmt.Sprintf("%s%d-%s-%s", folderPrefix, os.Getpid(), stat.Started, procgroup.Namespace())
}

var groupsMade atomic.Int64

// newControlGroup creates a group in folder (see groupFolder); nil if that is not
// possible.
func newControlGroup(folder string, l Limits) *controlGroup {
	if folder == "" {
		return nil
	}
	g := &controlGroup{path: filepath.Join(folder, groupName()+"-"+strconv.FormatInt(groupsMade.Add(1), 10))}
	if os.Mkdir(g.path, 0o755) != nil {
		return nil
	}
	g.memory = writeGroup(g.path, "memory.max", strconv.FormatInt(l.Memory, 10)) == nil
	if g.memory {
		_ = writeGroup(g.path, "memory.swap.max", "0")
		_ = writeGroup(g.path, "memory.oom.group", "1")
	}
	_ = writeGroup(g.path, "pids.max", strconv.Itoa(l.Processes))
	_ = writeGroup(g.path, "cgroup.max.descendants", "64") // more would take long to look through
	return g
}

// limitsMemory reports whether the kernel enforces the memory limit.
func (g *controlGroup) limitsMemory() bool { return g != nil && g.memory }

// kill ends all its processes at once.
func (g *controlGroup) kill() {
	if g != nil {
		_ = writeGroup(g.path, "cgroup.kill", "1")
	}
}

// remove removes the group once its last process has ended, which takes a moment.
func (g *controlGroup) remove() {
	if g == nil {
		return
	}
	for range 20 {
		wasPopulated := g.isPopulated()
		if removeGroup(g.path) == nil || !wasPopulated {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// isPopulated reports whether processes live in the group, or in those within it.
func (g *controlGroup) isPopulated() bool {
	events, _ := os.ReadFile(filepath.Join(g.path, "cgroup.events"))
	return strings.Contains("\n"+string(events), "\npopulated 1\n")
}

// removeGroup removes the group in dir, with those that its processes made in it: a plugin may be a
// host itself.
func removeGroup(dir string) error {
	err := os.Remove(dir)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if e.IsDir() {
			_ = removeGroup(filepath.Join(dir, e.Name()))
		}
	}
	return os.Remove(dir)
}

// members are the pids of the processes in the group, and in those within it.
func (g *controlGroup) members() (pids []int) {
	_ = filepath.WalkDir(g.path, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.Name() != "cgroup.procs" {
			return nil //nolint:nilerr // groups come and go meanwhile
		}
		text, _ := os.ReadFile(path)
		for field := range strings.FieldsSeq(string(text)) {
			if pid, err := strconv.Atoi(field); err == nil {
				pids = append(pids, pid)
			}
		}
		return nil
	})
	return pids
}

// outOfMemory reports whether the kernel killed a process of the group for its memory
// use.
func (g *controlGroup) outOfMemory() bool {
	if !g.limitsMemory() {
		return false
	}
	events, err := os.ReadFile(filepath.Join(g.path, "memory.events"))
	if err != nil {
		return false
	}
	_, after, ok := strings.Cut(string(events), "oom_kill ")
	return ok && !strings.HasPrefix(after, "0\n")
}

// sweepGroups kills and removes the groups of hosts that are gone.
func sweepGroups(folder string) {
	if folder == "" {
		return
	}
	groups, _ := filepath.Glob(filepath.Join(folder, folderPrefix+"*"))
	for _, path := range groups {
		parts := strings.Split(strings.TrimPrefix(filepath.Base(path), folderPrefix), "-")
		pid, err := strconv.Atoi(parts[0])
		if err != nil || len(parts) != 4 || parts[2] != procgroup.Namespace() {
			continue
		}
		if when, err := procgroup.Began(pid); err == nil && when == parts[1] {
			continue
		}
		g := &controlGroup{path: path}
		g.kill()
		g.remove()
	}
}
