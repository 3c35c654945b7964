package sim

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/recovery"
)

// version is the version of every plugin.
const version = "1.2.3"

// adviser draws a plugin.
func (w *world) adviser(d *dice) (string, hooks.Hook) {
	kind := pick(d,
		"sensible", "sensible", "sensible", "hostile", "silent", "erring", "hanging", "deaf", "invalid", "random", "pingpong", "verbose", "compactor")
	return kind, hooks.Func(func(ctx context.Context, e hooks.RunError) (recovery.Vote, error) {
		w.overheard("a plugin", e)
		if d.chance(0.2) {
			time.Sleep(d.duration(3 * time.Second))
		}
		vote, err := d.advise(ctx, kind, e)
		vote.Version = version
		return vote, err
	})
}

// overheard complains if the key is in what somebody was told.
func (w *world) overheard(who string, what any) {
	data, err := json.Marshal(what)
	if err != nil {
		w.complain("I21: what %s is told: %v", who, err)
	}
	if strings.Contains(string(data), canary) {
		w.complain("I21: %s is told the key: %s", who, data)
	}
}

func (d *dice) advise(ctx context.Context, kind string, e hooks.RunError) (recovery.Vote, error) {
	switch kind {
	case "sensible":
		return sensible(e), nil
	case "hostile":
		return recovery.Vote{Action: recovery.ActionRetry}, nil
	case "erring":
		if d.chance(0.3) {
			panic("the plugin broke")
		}
		return recovery.Vote{}, errors.New("the plugin has no opinion today")
	case "hanging":
		<-ctx.Done()
		return recovery.Vote{Action: recovery.ActionRetry}, nil
	case "deaf":
		time.Sleep(20 * time.Second)
		return recovery.Vote{Action: recovery.ActionRetry}, nil
	case "invalid":
		return d.nonsense(), nil
	case "verbose":
		long := strings.Repeat("because ", 20_000)
		return recovery.Vote{Action: recovery.ActionRetry, Reason: long, Delay: failure.InMillis(d.duration(time.Minute))}, nil
	case "compactor":
		return recovery.Vote{Action: recovery.ActionRetry, Adjust: recovery.Adjust{Compact: true}}, nil
	case "pingpong":
		if n := len(e.Alternatives); n > 0 {
			return recovery.Vote{Action: recovery.ActionSwitchModel, NewModel: e.Alternatives[n-1].Model}, nil
		}
		return recovery.Vote{Action: recovery.ActionRetry}, nil
	case "random":
		v := recovery.Vote{
			Action: pick(d, recovery.ActionNone, recovery.ActionRetry, recovery.ActionSwitchModel, recovery.ActionFail),
			Delay:  failure.InMillis(d.duration(pick(d, time.Second, 10*time.Minute, 50*time.Hour))),
		}
		v.Adjust.Compact = d.chance(0.2)
		if len(e.Alternatives) > 0 {
			v.NewModel = pick(d, e.Alternatives...).Model
		}
		return v, nil
	}
	return recovery.Vote{}, nil
}

// nonsense is an answer that must not count.
func (d *dice) nonsense() recovery.Vote {
	return pick(d,
		recovery.Vote{Action: "dance"}, recovery.Vote{Action: recovery.ActionRetry, Delay: -1},
		recovery.Vote{Action: recovery.ActionRetry, Delay: 1 << 62}, recovery.Vote{Action: recovery.ActionSwitchModel},
		recovery.Vote{Action: recovery.ActionSwitchModel, NewModel: "evil/one"},
		recovery.Vote{Action: recovery.ActionRetry, Reason: "\xff"})
}

// sensible retries failures that may pass, and switches the model for others.
func sensible(e hooks.RunError) recovery.Vote {
	switch {
	case len(e.Alternatives) > 0 && (!e.Failure.Retryable || e.Attempt >= 2 || e.Failure.RetryAfter > 30_000):
		return recovery.Vote{Action: recovery.ActionSwitchModel, NewModel: e.Alternatives[0].Model, Reason: "it will not pass here"}
	case e.Failure.Retryable:
		return recovery.Vote{Action: recovery.ActionRetry, Delay: failure.Millis(300 << e.Retries), Reason: "it may pass"}
	}
	return recovery.Vote{Action: recovery.ActionFail, Reason: "nothing helps"}
}
