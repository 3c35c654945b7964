//go:build !linux

package procgroup

import (
	"context"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"
)

// thisPlace is the machine: process numbers have one namespace here, and the time when
// a process began tells starts of the system apart.
var thisPlace = sync.OnceValue(func() place {
	name, _ := os.Hostname()
	return place{machine: oneWord(name), boot: "-", namespace: "-"}
})

// Began says when a process began, to the second. A zombie counts as gone.
func Began(pid int) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "ps", "-o", "stat=,lstart=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return "", err
	}
	state, started, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	if state == "" || state[0] == 'Z' {
		return "", os.ErrProcessDone
	}
	return oneWord(started), nil
}
