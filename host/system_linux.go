package host

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/mulligan-run/mulligan/internal/procgroup"
)

// mayExecute reports whether programs may run from a folder's file system.
func mayExecute(dir string) bool {
	var fs unix.Statfs_t
	return unix.Statfs(dir, &fs) != nil || fs.Flags&unix.ST_NOEXEC == 0
}

// limit bounds a process that has just been started, before it has done much: nothing
// can be done between fork and exec from Go. What the system refuses is left as it is.
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
	// Where memory runs out, a plugin goes before its host.
	_ = os.WriteFile("/proc/"+strconv.Itoa(pid)+"/oom_score_adj", []byte("500"), 0)
}

// usage counts the processes of a plugin and their resident bytes, of which shared ones
// count for each.
func usage(r *processRunner) (processes int, bytes int64) {
	for _, pid := range r.members() {
		if resident, ok := resident(pid); ok {
			processes++
			bytes += resident
		}
	}
	return processes, bytes
}

// shared counts resident bytes once whoever shares them, which takes the system longer.
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

// resident are bytes in memory.
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

// overflowOwner is whom files seem to belong to whose owner a user namespace does not
// know, as the system's own are there; 0 outside of one.
func overflowOwner() uint32 {
	text, err := os.ReadFile("/proc/self/uid_map")
	if err != nil || strings.Join(strings.Fields(string(text)), " ") == "0 0 4294967295" {
		return 0
	}
	return 65534
}
