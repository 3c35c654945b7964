package host

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"sync"
)

// bootID is another one after each start of the system.
var bootID = sync.OnceValue(func() string {
	id, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(id))
})

// startedAt says when a process began, in terms that no other process of the same
// number shares. A process that ended and is not waited for counts as gone.
func startedAt(pid int) (string, error) {
	stat, err := readStat(pid)
	if err != nil {
		return "", err
	}
	if stat.state == "Z" || stat.state == "X" {
		return "", os.ErrProcessDone
	}
	return bootID() + " " + stat.started, nil
}

// procStat is what is used of /proc/PID/stat.
type procStat struct {
	state         string
	parent, group int
	started       string // in ticks since the system's start
}

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
	s := procStat{state: fields[0], started: fields[19]}
	s.parent, _ = strconv.Atoi(fields[1])
	s.group, _ = strconv.Atoi(fields[2])
	return s, nil
}
