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
		pid, err := strconv.Atoi(entry.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		environment, err := os.ReadFile("/proc/" + entry.Name() + "/environ")
		if err != nil || !bytes.Contains(append([]byte{0}, append(environment, 0)...), []byte("\x00"+variable+"\x00")) {
			continue
		}
		if stat, err := ReadStat(pid); err == nil && !stat.Ended {
			pids = append(pids, pid)
		}
	}
	return pids
}
