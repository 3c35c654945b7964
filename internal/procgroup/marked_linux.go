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
	pids, _ = look(is)
	return pids
}

// look is Marked; blank reports whether there are processes that have no environment.
func look(is func(variable string) bool) (pids []int, blank bool) {
	entries, _ := os.ReadDir("/proc")
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		marked, none := isMarked(pid, is)
		if marked {
			pids = append(pids, pid)
		}
		blank = blank || none
	}
	return pids, blank
}

// killMarked kills them once, and reports whether there was one, or may be one that is just executing
// a program. Processes that they start meanwhile are left to the next call.
func killMarked(is func(variable string) bool) (killed, unclear bool) {
	pids, unclear := look(is)
	for _, pid := range pids {
		process, err := os.FindProcess(pid) // this very one from now on, whoever gets its number
		if err != nil {
			continue
		}
		marked, none := isMarked(pid, is)
		if marked && process.Kill() == nil {
			killed = true
		}
		unclear = unclear || none
		_ = process.Release()
	}
	return killed, unclear
}

// isMarked reports whether a process is marked, or has no environment.
func isMarked(pid int, is func(variable string) bool) (marked, blank bool) {
	environment, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return false, false // another user's, or the kernel's
	}
	blank = len(environment) == 0
	for variable := range strings.SplitSeq(string(environment), "\x00") {
		marked = marked || is(variable)
	}
	if !marked && !blank {
		return false, false
	}
	if stat, err := ReadStat(pid); err != nil || stat.Ended {
		return false, false
	}
	return marked, blank
}
