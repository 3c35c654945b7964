package runner

import (
	"context"
	"slices"

	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/recovery"
)

// tellEnd tells the hooks that take run_ended that the run has ended. Only Drain waits for them,
// and their votes are ignored: the run's log is over.
func (l *loop) tellEnd() {
	told := slices.DeleteFunc(slices.Clone(l.r.hooks()), func(h hooks.Named) bool { return !h.Takes(recovery.HookRunEnded) })
	if len(told) == 0 {
		return
	}
	about, id := hooks.NewRunEnded(l.run), l.id
	l.r.busy.Go(func() {
		hooks.Dispatch(context.Background(), told, about, l.r.deadlines, func(v recovery.Vote) {
			if v.Error != "" {
				l.r.logger.Warn("a plugin was not told that a run has ended", "plugin", v.Plugin, "run", id, "err", v.Error)
			}
		})
	})
}
