package runner

import (
	"context"
	"fmt"
	"slices"

	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/recovery"
)

// ask asks the plugins that have not voted on the occasion yet. Each of them gets a vote, even if
// that only says why it has no opinion.
func (l *loop) ask(ctx context.Context, key string, a *recovery.AskPlugins) {
	ctx, j := l.launchJob(ctx, key)
	about := l.r.aboutModels(l.about(a), l.clock.now())
	asked, missing := l.r.named(a.Plugins, a.Occasion.Hook())
	go func() {
		for _, vote := range missing {
			l.voted(a.Occasion, vote)
		}
		hooks.Dispatch(ctx, asked, about, l.r.deadlines, func(v recovery.Vote) { l.voted(a.Occasion, routable(about, v)) })
		l.finish(key, j, func(context.Context) error { return nil })
	}()
}

// about is the occasion that the plugins are asked about.
func (l *loop) about(a *recovery.AskPlugins) hooks.Occasion {
	now := l.clock.now()
	if a.Occasion.Hook() == recovery.HookToolError {
		return hooks.NewToolError(l.run, a.Occasion)
	}
	if a.Call == nil {
		return hooks.NewOccasion(l.run)
	}
	return hooks.NewBeforeCall(l.run, *a.Call, l.others(a.Call.Model, now).Alternatives, now)
}

// routable is v, or v with the reason why it does not count: a call may only be routed to a model
// that can be asked now.
func routable(about hooks.Occasion, v recovery.Vote) recovery.Vote {
	e, ok := about.(hooks.BeforeCall)
	if !ok || v.Action != recovery.ActionRoute || v.NewModel == e.Model.Model ||
		slices.ContainsFunc(e.Alternatives, func(a recovery.Alternative) bool { return a.Model == v.NewModel }) {
		return v
	}
	v.Action, v.Error = recovery.ActionNone, fmt.Sprintf("it wants %.100q instead, which is not one of the alternatives", v.NewModel)
	return v
}

// named finds the hooks with these names that take the occasion. For each missing hook it gives a vote
// that says so.
func (r *Runner) named(plugins []string, occasion string) (asked []hooks.Named, missing []recovery.Vote) {
	list := r.hooks()
	for _, name := range plugins {
		if i := slices.IndexFunc(list, func(h hooks.Named) bool { return h.Name == name && !h.Shadow && h.Takes(occasion) }); i >= 0 {
			asked = append(asked, list[i])
		} else {
			missing = append(missing, recovery.Vote{Plugin: name, Error: "it is not configured in this process"})
		}
	}
	return asked, missing
}

// voted writes a vote, if the run still wants it.
func (l *loop) voted(about recovery.Occasion, v recovery.Vote) {
	l.post(func(ctx context.Context) error {
		if l.run.End != nil || !l.run.Awaits(about) {
			return nil
		}
		return l.write(ctx, recovery.Voted{Occasion: about, Vote: v})
	})
}
