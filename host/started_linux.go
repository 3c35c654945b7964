package host

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"sync"
)

// thisPlace is where the numbers of this process's surroundings mean something: the
// machine, its start, and the namespace of process numbers (a container's).
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

// began says when a process of this place began, in ticks since the system's start. One
// that ended and is not waited for is gone.
func began(pid int) (string, error) {
	stat, err := readStat(pid)
	if err != nil {
		return "", err
	}
	if stat.state == "Z" || stat.state == "X" {
		return "", os.ErrProcessDone
	}
	return stat.started, nil
}

// procStat is what is used of /proc/PID/stat.
type procStat struct{ state, started string }

func readStat(pid int) (procStat, error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return procStat{}, err
	}
	// The name, in brackets, may hold anything.
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	if len(fields) < 20 {
		return procStat{}, errors.New("/proc is not as expected")
	}
	return procStat{state: fields[0], started: fields[19]}, nil
}
