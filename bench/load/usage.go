package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of processor time in /proc.
const tick = 10 * time.Millisecond

// residentMiB is a process's resident memory: from /proc if there is one, else from ps. 0
// = unknown.
func residentMiB(pid int) float64 {
	id, number, unit := strconv.Itoa(pid), 1, os.Getpagesize()
	text, err := os.ReadFile("/proc/" + id + "/statm") // "size resident …", pages
	if err != nil {
		text, err = exec.Command("ps", "-o", "rss=", "-p", id).Output() //nolint:noctx // it takes only a moment
		number, unit = 0, 1<<10
	}
	fields := bytes.Fields(text)
	if err != nil || len(fields) <= number {
		return 0
	}
	n, _ := strconv.Atoi(string(fields[number]))
	return float64(n*unit) / (1 << 20)
}

// burned is the processor time used so far: by the three processes, and by the whole
// machine.
type burned struct {
	at                               time.Time
	gateway, provider, load, machine time.Duration
}

func (l *lot) burned() burned {
	return burned{
		at: time.Now(), gateway: ofProcess(l.gateway.cmd.Process.Pid), provider: ofProcess(l.provider.cmd.Process.Pid),
		load: ofProcess(os.Getpid()), machine: ofMachine(),
	}
}

// since says how many processors each has used since then, "" without /proc.
func (b burned) since(then burned) string {
	if b.machine == 0 {
		return ""
	}
	took := b.at.Sub(then.at).Seconds()
	share := func(now, then time.Duration) float64 { return (now - then).Seconds() / took }
	gateway, provider, load := share(b.gateway, then.gateway), share(b.provider, then.provider), share(b.load, then.load)
	others := max(0, share(b.machine, then.machine)-gateway-provider-load)
	return fmt.Sprintf("%.2f + %.2f + %.2f; others %.2f", gateway, provider, load, others)
}

// ofProcess reads /proc/…/stat, where the 14th and 15th field are the time in user and
// kernel mode; the name before them may contain anything.
func ofProcess(pid int) time.Duration {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	const user, system = 14 - 3, 15 - 3
	if len(fields) <= system {
		return 0
	}
	return ticks(fields[user]) + ticks(fields[system])
}

// ofMachine reads the first line of /proc/stat, whose times are those of user, nice,
// system, idle, iowait, irq, softirq.
func ofMachine() time.Duration {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	line, _, _ := strings.Cut(string(text), "\n")
	var all time.Duration
	for i, field := range strings.Fields(line) {
		if i >= 1 && i <= 7 && i != 4 && i != 5 {
			all += ticks(field)
		}
	}
	return all
}

func ticks(text string) time.Duration {
	n, _ := strconv.ParseInt(text, 10, 64)
	return time.Duration(n) * tick
}
