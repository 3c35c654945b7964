package procgroup

import (
	"errors"
	"os"
	"strconv"
	"strings"
)

// Stat is the part of /proc/PID/stat that is used.
type Stat struct {
	Group   int    // the process group
	Ended   bool   // it is a zombie: nobody has waited for it yet
	Started string // in ticks since the system's start
}

// ReadStat reads it. If there is no such process, the error is that of a missing file.
func ReadStat(pid int) (Stat, error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return Stat{}, err
	}
	// The name, in brackets, may contain anything.
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	if len(fields) < 20 {
		return Stat{}, errors.New("/proc does not have the expected form")
	}
	group, err := strconv.Atoi(fields[2])
	return Stat{Group: group, Ended: fields[0] == "Z" || fields[0] == "X", Started: fields[19]}, err
}

// Members lists the processes of a group that have not ended.
func Members(group int) (pids []int) {
	entries, _ := os.ReadDir("/proc")
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		if stat, err := ReadStat(pid); err == nil && stat.Group == group && !stat.Ended {
			pids = append(pids, pid)
		}
	}
	return pids
}

// anyRuns assumes that a process runs if /proc cannot be read.
func anyRuns(group int) bool {
	if _, err := ReadStat(os.Getpid()); err != nil {
		return true
	}
	return len(Members(group)) > 0
}
