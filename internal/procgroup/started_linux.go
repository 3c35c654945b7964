package procgroup

import (
	"os"
	"strings"
	"sync"
)

// thisPlace is where the numbers of this process's surroundings are unique: the
// machine, its boot, and the namespace of process numbers (such as a container's).
var thisPlace = sync.OnceValue(func() place {
	machine, err := os.ReadFile("/etc/machine-id")
	if err != nil {
		name, _ := os.Hostname()
		machine = []byte(name)
	}
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	namespace, _ := os.Readlink("/proc/self/ns/pid")
	return place{oneWord(string(machine)), oneWord(string(boot)), strings.Trim(namespace, "pid:[]")}
})

// Began says when a process of this place began, in ticks since boot. A zombie counts
// as gone.
func Began(pid int) (string, error) {
	stat, err := ReadStat(pid)
	if err != nil {
		return "", err
	}
	if stat.Ended {
		return "", os.ErrProcessDone
	}
	return stat.Started, nil
}
