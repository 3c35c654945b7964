package procgroup

import (
	"os"
	"strconv"
	"strings"
)

// Marked lists the processes whose environment holds a variable that is the mark, given as
// NAME=value: those that a program started with it has started in turn, whatever group or
// parent they have now. One that gave up its environment, that is another user's, or that is
// just becoming another program, is not found.
func Marked(is func(variable string) bool) (pids []int) {
	entries, _ := os.ReadDir("/proc")
	for _, entry := range entries {
		if pid, err := strconv.Atoi(entry.Name()); err == nil && pid != os.Getpid() && isMarked(pid, is) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// killMarked kills them, and reports whether there was one. Those that they started
// meanwhile are for another call.
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
