package host

import (
	"os"
	"strings"
)

// place is where a process's number means something.
type place struct{ machine, boot, namespace string }

// life is what can be said of a process by its number and its beginning.
type life int

const (
	processGone      life = iota
	processAlive          // the same process
	processElsewhere      // of another machine or container: nobody can tell from here
)

// startedAt says where and when a process began, in terms that no other process of the
// same number shares.
func startedAt(pid int) (string, error) {
	when, err := began(pid)
	p := thisPlace()
	return strings.Join([]string{p.machine, p.boot, p.namespace, when}, " "), err
}

// lifeOf looks for the process that had that number and began then; numbers are given
// again.
func lifeOf(pid int, started string) life {
	fields := strings.Fields(started)
	p := thisPlace()
	switch {
	case len(fields) != 4 || pid <= 0:
		return processGone
	case fields[0] != p.machine:
		return processElsewhere
	case fields[1] != p.boot:
		return processGone
	case fields[2] != p.namespace:
		return processElsewhere
	}
	if when, err := began(pid); err == nil && when == fields[3] {
		return processAlive
	}
	return processGone
}

// us is this process.
func us() (pid int, started string, err error) {
	started, err = startedAt(os.Getpid())
	return os.Getpid(), started, err
}

// oneWord makes a text that can stand between spaces.
func oneWord(text string) string {
	if text = strings.Join(strings.Fields(text), "_"); text == "" {
		return "-"
	}
	return text
}
