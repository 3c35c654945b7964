//go:build !linux

package host

import (
	"context"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// startedAt says when a process began, to the second. A process that ended and is not
// waited for counts as gone.
func startedAt(pid int) (string, error) {
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
	return strings.TrimSpace(started), nil
}
