package runner

import (
	"slices"
	"sync"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
)

// maxRecentEntries limits the entries for which calls are remembered: callers that ask for advice
// may name any model.
const maxRecentEntries = 256

// recentCalls remembers how the last calls of each provider entry ended, in all runs of this
// process, for hooks.
type recentCalls struct {
	mu      sync.Mutex
	byEntry map[string][]recovery.RecentCall // the newest last
}

// add records a call of that model that failed with that kind, or that was answered.
func (c *recentCalls) add(model string, kind failure.Kind, at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.byEntry) >= maxRecentEntries || c.byEntry == nil {
		c.byEntry = map[string][]recovery.RecentCall{}
	}
	entry := entryOf(model)
	list := c.byEntry[entry]
	if len(list) == hooks.MaxRecentCalls {
		list = slices.Delete(list, 0, 1)
	}
	c.byEntry[entry] = append(list, recovery.RecentCall{Model: model, Kind: kind, At: at.UTC()})
}

// of are the last calls of the model's entry.
func (c *recentCalls) of(model string) []recovery.RecentCall {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]recovery.RecentCall(nil), c.byEntry[entryOf(model)]...)
}

// aboutModels is o with what this process knows about its models now.
func (r *Runner) aboutModels(o hooks.Occasion, now time.Time) hooks.Occasion {
	return hooks.About(o, surroundings{r, now})
}

// surroundings is what a runner knows about its models at a time.
type surroundings struct {
	r   *Runner
	now time.Time
}

func (s surroundings) Capabilities(model string) llm.Capabilities {
	return s.r.models.Capabilities(model)
}

func (s surroundings) Cooling(model string) (recovery.Cooldown, bool) {
	return s.r.health.Cooling(model, s.now)
}

func (s surroundings) Recent(model string) []recovery.RecentCall { return s.r.recent.of(model) }
