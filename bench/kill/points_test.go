package kill

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// point is a named instant at which a process dies: "before", "amid" or "after" a step. An
// append is called by the type of its event.
type point struct {
	name  string
	story string
	most  int // how often the story surely comes by
}

// points are all that are tried.
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

// String is the point as it stands in the table.
func (p point) String() string {
	if p.name == "" || p.story == "tools" {
		return p.name
	}
	return fmt.Sprintf("%s (%s)", p.name, p.story)
}

// trap is the point at which this process dies.
type trap struct {
	point string
	late  time.Duration // how long after its beginning, where the point is amid a step

	mu sync.Mutex
	n  int // how often it is passed before
}

// at comes by a point.
func (t *trap) at(name string) {
	if t.springs(name) {
		die()
	}
}

// amid comes by a step that takes a while.
func (t *trap) amid(step string) {
	if t.springs("amid " + step) {
		time.AfterFunc(t.late, die)
	}
}

func (t *trap) springs(name string) bool {
	if t.point != name {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.n--
	return t.n == 0
}

// die ends this process as power loss or the out-of-memory killer would.
func die() {
	_ = syscall.Kill(syscall.Getpid(), syscall.SIGKILL)
	select {} // until it arrives
}

// named finds points by a part of their name.
func named(part string) []point {
	return slices.DeleteFunc(slices.Clone(points), func(p point) bool { return !strings.Contains(p.name, part) })
}
