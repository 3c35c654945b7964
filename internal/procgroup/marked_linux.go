package procgroup

import (
	"os"
	"strconv"
	"strings"
)

// Marked lists the processes whose environment contains the mark, a variable given as NAME=value:
// those that a program with that variable has started in turn, whatever group or parent they have
// now. It does not find processes that have cleared their environment, belong to another user, or
// are just executing another program.
func Marked(is func(variable string) bool) (pids []int) {
	entries, _ := os.ReadDir("/proc")
	for _, entry := range entries {
		if pid, err := strconv.Atoi(entry.Name()); err == nil && pid != os.Getpid() && isMarked(pid, is) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// killMarked kills them once, and reports whether there was one. Processes that they start
// meanwhile are left to the next call.
func killMarked(is func(variable string) bool) bool {
	found := false
	for _, pid := range Marked(is) {
		process, err := os.FindProcess(pid) // this very one from now on, whoever gets its number
		if err != nil {
			continue
		}
		if isMarked(pid, is) && process.Kill() == nil {
			found = true
		}
		_ = process.Release()
	}
	return found
}

func isMarked(pid int, is func(variable string) bool) bool {
	environment, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return false // another user's
	}
	for variable := range strings.SplitSeq(string(environment), "\x00") {
		if is(variable) {
			stat, err := ReadStat(pid)
			return err == nil && !stat.Ended
		}
	}
	return false
}
