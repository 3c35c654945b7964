package kill

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// point is a named moment at which a process dies: "before", "amid" or "after" a step. An append is
// named after the type of its event.
type point struct {
	name     string
	scenario string
	most     int // how often the scenario reaches it at least
}

// points are all named points.
var points = []point{
	{"after claim", "tools", 1},
	{"before started", "tools", 1},
	{"amid started", "tools", 1},
	{"after started", "tools", 1},
	{"before claimed", "tools", 1},
	{"after claimed", "tools", 1},
	{"before began", "tools", 3},
	{"amid began", "tools", 3},
	{"after began", "tools", 3},
	{"first byte", "tools", 2},
	{"before answered", "tools", 2},
	{"amid answered", "tools", 2},
	{"after answered", "tools", 2},
	{"before tool_began", "tools", 3},
	{"amid tool_began", "tools", 3},
	{"after tool_began", "tools", 3},
	{"before effect", "tools", 3},
	{"amid effect", "tools", 3},
	{"after effect", "tools", 3},
	{"before tool_returned", "tools", 3},
	{"amid tool_returned", "tools", 3},
	{"after tool_returned", "tools", 3},
	{"before failed", "tools", 1},
	{"after failed", "tools", 1},
	{"amid hook", "tools", 1},
	{"before voted", "tools", 1},
	{"after voted", "tools", 1},
	{"before decided", "tools", 1},
	{"after decided", "tools", 1},
	{"before waiting", "tools", 1},
	{"after waiting", "tools", 1},
	{"before due", "tools", 1},
	{"after due", "tools", 1},
	{"before ended", "tools", 1},
	{"after ended", "tools", 1},
	{"before release", "tools", 1},
	{"after release", "tools", 1},
	{"before suggested", "asks", 1},
	{"after suggested", "asks", 1},
	{"before accepted", "asks", 1},
	{"amid accepted", "asks", 1},
	{"after accepted", "asks", 1},
	{"before send", "waits", 1},
	{"after send", "waits", 1},
	{"after accepted", "waits", 1},
	{"before compacting", "long", 1},
	{"after compacting", "long", 1},
	{"before compacted", "long", 1},
	{"after compacted", "long", 1},
	{"before cancel_requested", "cancels", 1},
	{"after cancel_requested", "cancels", 1},
	{"before snapshot", "keeps", 1},
	{"amid snapshot", "keeps", 1},
	{"after snapshot", "keeps", 1},
	{"before tail", "speaks", 1},
	{"amid tail", "speaks", 1},
	{"after tail", "speaks", 1},
	{"before renew", "slow", 3},
	{"after renew", "slow", 3},
}

// String is the point's name in the table.
func (p point) String() string {
	if p.name == "" || p.scenario == "tools" {
		return p.name
	}
	return fmt.Sprintf("%s (%s)", p.name, p.scenario)
}

// killPoint is the point at which this process dies.
type killPoint struct {
	point string
	late  time.Duration // for a point amid a step: how long after the step began

	mu sync.Mutex
	n  int // how often the point is still to be reached
}

// at kills the process if this is its point.
func (t *killPoint) at(name string) {
	if t.isReached(name) {
		die()
	}
}

// amid kills the process within a step, if that is its point.
func (t *killPoint) amid(step string) {
	if t.isReached("amid " + step) {
		time.AfterFunc(t.late, die)
	}
}

func (t *killPoint) isReached(name string) bool {
	if t.point != name {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.n--
	return t.n == 0
}

// die ends this process as abruptly as power loss or the out-of-memory killer.
func die() {
	_ = syscall.Kill(syscall.Getpid(), syscall.SIGKILL)
	select {} // until the signal arrives
}

// named returns the points whose name contains part.
func named(part string) []point {
	return slices.DeleteFunc(slices.Clone(points), func(p point) bool { return !strings.Contains(p.name, part) })
}
