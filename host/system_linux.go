package host

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/mulligan-run/mulligan/internal/procgroup"
)

// mayExecute reports whether a folder's file system allows programs to run.
func mayExecute(dir string) bool {
	var fs unix.Statfs_t
	return unix.Statfs(dir, &fs) != nil || fs.Flags&unix.ST_NOEXEC == 0
}

// limit sets limits on a process that has just been started: Go can run nothing
// between fork and exec, so they apply a moment late. Limits that the system refuses
// are skipped.
func limit(pid int, l Limits) {
	for resource, most := range map[int]uint64{
		unix.RLIMIT_NOFILE: uint64(l.Files), unix.RLIMIT_FSIZE: uint64(l.FileSize), unix.RLIMIT_CORE: 0,
	} {
		var now unix.Rlimit
		if unix.Prlimit(pid, resource, nil, &now) == nil {
			most = min(most, now.Max)
			_ = unix.Prlimit(pid, resource, &unix.Rlimit{Cur: most, Max: most}, nil)
		}
	}
	// If memory runs out, the kernel should kill plugins before their host.
	_ = os.WriteFile("/proc/"+strconv.Itoa(pid)+"/oom_score_adj", []byte("500"), 0)
}

// usage counts the processes of a plugin and their resident bytes; shared pages count
// once per process.
func usage(r *processRunner) (processes int, bytes int64) {
	for _, pid := range r.members() {
		if resident, ok := resident(pid); ok {
			processes++
			bytes += resident
		}
	}
	return processes, bytes
}

// shared is like usage, but counts pages that processes share once. This takes the
// system longer.
func shared(r *processRunner) (bytes int64) {
	for _, pid := range r.members() {
		rollup, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/smaps_rollup")
		_, after, ok := strings.Cut(string(rollup), "\nPss:")
		kilobytes, _, _ := strings.Cut(strings.TrimSpace(after), " ")
		if n, numberErr := strconv.ParseInt(kilobytes, 10, 64); err == nil && ok && numberErr == nil {
			bytes += n << 10
		} else if n, ok := resident(pid); ok {
			bytes += n
		}
	}
	return bytes
}

func (r *processRunner) members() []int {
	if r.group != nil {
		return r.group.members()
	}
	return procgroup.Members(r.pid())
}

// resident is a process's resident memory in bytes.
func resident(pid int) (int64, bool) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/statm")
	if err != nil {
		return 0, false
	}
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0, false
	}
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	return pages * int64(os.Getpagesize()), err == nil
}

// overflowOwner is the user id that files seem to have in a user namespace if the
// namespace does not map their owner, as for system files; 0 outside such a namespace.
func overflowOwner() uint32 {
	text, err := os.ReadFile("/proc/self/uid_map")
	if err != nil || strings.Join(strings.Fields(string(text)), " ") == "0 0 4294967295" {
		return 0
	}
	return 65534
}
