package autorecover

import (
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/recovery"
)

// patience is how long an answer is worth waiting for if another model could give one
// now.
const patience = time.Minute

// moreOutput is the output limit, in tokens, for the second try at a cut answer;
// current models allow at least as much.
const moreOutput = 16_384

// Input is what Decide looks at: a failure and the state of the run.
type Input struct {
	Failure      failure.Failure
	Model        string // the one that failed
	Retries      int    // of this model call so far
	MaxRetries   int
	AutoRecover  bool // whether the decision is carried out, or only offered
	IdleBreaker  bool
	Tried        []recovery.Tried // failed attempts of this model call, this one included
	Alternatives []recovery.Alternative
	Now          time.Time
}

// Decide is the policy. The caller draws jitter from [0, 1). Only Action, Delay,
// NewModel, Reason and Adjust of the vote are set.
func Decide(c Config, in Input, jitter float64) recovery.Vote {
	p := planFor(in.Failure)
	if c.retryFirst(in, p) {
		return c.retry(in, p, jitter, retryReason(in))
	}
	if model := c.next(in, p); model != "" {
		if p.last == offerOther && in.AutoRecover {
			return recovery.Vote{Reason: in.happened() + "; whether another model is asked is for a person to say"}
		}
		return recovery.Vote{Action: recovery.ActionSwitchModel, NewModel: model, Reason: switchReason(in, model)}
	}
	return c.lastResort(in, p, jitter)
}

// retryFirst reports whether asking the same model again comes before all else.
func (c Config) retryFirst(in Input, p plan) bool {
	if p.retries == never || (p.retries == once && in.again()) {
		return false
	}
	if p.rotate == stay {
		return true
	}
	spent := in.IdleBreaker || in.Retries >= in.MaxRetries || (c.Switch && in.retriesOfModel() >= c.AfterRetries)
	next := c.next(in, p)
	tooLong := asked(in.Failure, in.Now) > patience && next != ""
	silent := silence[in.Failure.Timer] && next != "" && in.fitness(next) == untried
	return !spent && !tooLong && !silent
}

// silence are the timers whose expiry is not worth a retry: at the first one, a healthy
// alternative is asked.
var silence = map[failure.Timer]bool{
	failure.TimerConnect: true, failure.TimerFirstEvent: true, failure.TimerBytes: true, failure.TimerIdle: true,
}

func (c Config) lastResort(in Input, p plan, jitter float64) recovery.Vote {
	switch {
	case p.last == giveUp, p.last == retryShorter && in.alike() > recovery.MaxCompactions:
		return recovery.Vote{Action: recovery.ActionFail, Reason: failReason(in)}
	case p.last == retryShorter:
		v := c.retry(in, p, jitter, in.happened()+"; a shorter one may fit")
		v.Adjust.Compact = true
		return v
	case p.last == offerOnly, p.last == offerOther, p.last == retryRepaired && !in.AutoRecover:
		p.atOnce = true // a person decides when
	}
	return c.retry(in, p, jitter, lastReason(in, p))
}

func (c Config) retry(in Input, p plan, jitter float64, reason string) recovery.Vote {
	var pause time.Duration
	if !p.atOnce {
		pause = c.delay(in.retriesOfModel(), jitter)
	}
	v := recovery.Vote{
		Action: recovery.ActionRetry, Reason: reason,
		Delay: bounded(max(pause, asked(in.Failure, in.Now))),
	}
	if in.Failure.Kind == failure.KindOutputTruncated {
		v.Adjust.MaxOutputTokens = moreOutput
	}
	return v
}

// retriesOfModel counts how often the failed model was retried during this call.
func (in Input) retriesOfModel() int {
	return max(0, in.count(func(recovery.Tried) bool { return true })-1)
}

// again reports whether the model failed like this before during this call.
func (in Input) again() bool { return in.alike() > 1 }

// alike counts how often the model failed like this during this call, including this
// time.
func (in Input) alike() int {
	return in.count(func(t recovery.Tried) bool { return t.Code == in.Failure.Code })
}

func (in Input) count(fits func(recovery.Tried) bool) int {
	n := 0
	for _, t := range in.Tried {
		if t.Model == in.Model && fits(t) {
			n++
		}
	}
	return n
}
