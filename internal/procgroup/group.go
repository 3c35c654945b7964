package procgroup

import (
	"errors"
	"syscall"
)

// signal sends a signal to every process of a group. Call alive first if the group may have
// ended: its number may be reused.
func signal(group int, s syscall.Signal) { _ = syscall.Kill(-group, s) }

// alive reports whether a process of the group still runs. On Linux a zombie does not count.
func alive(group int) bool {
	return !errors.Is(syscall.Kill(-group, 0), syscall.ESRCH) && anyRuns(group)
}
