package runner

import (
	"context"
	"slices"

	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/recovery"
)

// ask puts the failure to the plugins that have not voted on it yet. Everybody who
// is asked votes, if only to say why there is no opinion.
func (l *loop) ask(ctx context.Context, key string, a *recovery.AskPlugins) {
	ctx, j := l.launchJob(ctx, key)
	event := hooks.NewRunError(l.run)
	list := l.r.hooks()
	var asked []hooks.Named
	var missing []string
	for _, name := range a.Plugins {
		if i := slices.IndexFunc(list, func(h hooks.Named) bool { return h.Name == name && !h.Shadow }); i >= 0 {
			asked = append(asked, list[i])
		} else {
			missing = append(missing, name)
		}
	}
	go func() {
		for _, name := range missing {
			l.voted(a.Failure, recovery.Vote{Plugin: name, Error: "it is not configured in this process"})
		}
		hooks.Dispatch(ctx, asked, event, l.r.deadlines, func(v recovery.Vote) { l.voted(a.Failure, v) })
		l.finish(key, j, func(context.Context) error { return nil })
	}()
}

// voted writes a vote, as long as the failure is still open.
func (l *loop) voted(failure uint64, v recovery.Vote) {
	l.post(func(ctx context.Context) error {
		if o := l.run.Open; l.run.End != nil || o == nil || o.Seq != failure || !o.Asking() {
			return nil
		}
		return l.write(ctx, recovery.Voted{Failure: failure, Vote: v})
	})
}
