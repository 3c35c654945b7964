package procgroup

import (
	"bytes"
	"os"
	"strconv"
)

// Marked lists the processes whose environment holds the variable, given as NAME=value: those
// that a program started with it has started in turn, whatever group or parent they have now.
// One that gave up its environment, or that is another user's, is not found.
func Marked(variable string) (pids []int) {
	entries, _ := os.ReadDir("/proc")
	for _, entry := range entries {
		if pid, err := strconv.Atoi(entry.Name()); err == nil && pid != os.Getpid() && isMarked(pid, variable) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// KillMarked kills them, and reports whether there was one. Those that they started
// meanwhile are for another call.
func KillMarked(variable string) bool {
	found := false
	for _, pid := range Marked(variable) {
		process, err := os.FindProcess(pid) // this very one from now on, whoever gets its number
		if err != nil {
			continue
		}
		if isMarked(pid, variable) && process.Kill() == nil {
			found = true
		}
		_ = process.Release()
	}
	return found
}

func isMarked(pid int, variable string) bool {
	environment, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil || !bytes.Contains(append([]byte{0}, append(environment, 0)...), []byte("\x00"+variable+"\x00")) {
		return false
	}
	stat, err := ReadStat(pid)
	return err == nil && !stat.Ended
}
