package sim

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/recovery"
)

// dice are one component's own, so that goroutines do not change each other's luck.
type dice struct {
	mu sync.Mutex
	r  *rand.Rand
}

func newDice(seed, component uint64) *dice {
	return &dice{r: rand.New(rand.NewPCG(seed, component))}
}

func (d *dice) n(n int) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.r.IntN(n)
}

func (d *dice) chance(p float64) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.r.Float64() < p
}

// duration is up to limit, short ones as likely as long ones.
func (d *dice) duration(limit time.Duration) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	f := d.r.Float64()
	return time.Duration(float64(limit) * f * f * f)
}

func pick[T any](d *dice, of ...T) T { return of[d.n(len(of))] }

var sentences = []string{
	"It is 14 °C and clear.",
	"A light jacket is enough, I would say, unless the wind turns.",
	"Yes.",
	"The order was placed; the confirmation follows by mail within the hour, and the rest is as before.",
}

// script draws what a model does. What it does last it does for ever.
func (d *dice) script(tools bool) []faultlab.Step {
	var steps []faultlab.Step
	for range d.n(8) {
		steps = append(steps, d.step(tools))
	}
	if d.chance(0.75) {
		return append(steps, faultlab.Answer(pick(d, sentences...)))
	}
	return append(steps, d.fault())
}

func (d *dice) step(tools bool) faultlab.Step {
	switch roll := d.n(100); {
	case roll < 10:
		return faultlab.Answer(pick(d, sentences...))
	case roll < 18:
		return faultlab.SlowAnswer(pick(d, sentences...), d.duration(15*time.Second))
	case roll < 45 && tools:
		return d.toolCalls()
	}
	return d.fault()
}

func (d *dice) toolCalls() faultlab.Step {
	var calls []faultlab.Call
	for range 1 + d.n(3) {
		calls = append(calls, faultlab.Call{
			Name: pick(d, "lookup", "lookup", "lookup", "charge", "charge", "charge", "nowhere"),
			Args: pick(d, `{}`, `{"n":1}`, `{"n":1}`, `{"city":"Oslo"}`, `{"ci`),
		})
	}
	return faultlab.ToolCalls(pick(d, "", "Let me look. ", sentences[0]), calls...)
}

func (d *dice) fault() faultlab.Step {
	text := pick(d, sentences...)
	text = pick(d, "", text[:len(text)/3], text)
	return pick(d,
		faultlab.RateLimited(-1), faultlab.RateLimited(d.duration(20*time.Second)), faultlab.RateLimited(2*time.Hour),
		faultlab.Unavailable(), faultlab.Unavailable(), faultlab.Overloaded(), faultlab.Overloaded(), faultlab.Unauthorized(),
		faultlab.HTML502(), faultlab.Status(400, nil, ""), faultlab.Status(404, nil, ""), faultlab.Status(413, nil, ""),
		faultlab.Status(500, nil, "{"), faultlab.Status(302, map[string]string{"Location": "/"}, "x"), faultlab.Status(204, nil, ""),
		faultlab.Hang(), faultlab.Refuse(), faultlab.Empty200(),
		faultlab.StallAfter(text), faultlab.CutAfter(text), faultlab.CutAfter(text), faultlab.ErrorEventAfter(text),
		faultlab.EndAfter(text), faultlab.Malformed(text))
}

// policy draws limits; there is always a clock that ends a silent stream.
func (d *dice) policy(p *recovery.Policy) {
	const second, minute, hour = recovery.Millis(1000), recovery.Millis(60_000), recovery.Millis(3_600_000)
	p.AutoRecover = d.chance(0.7)
	p.MaxRetries = d.n(7)
	p.Timeouts.FirstEvent = pick(d, 2*second, 30*second)
	p.Timeouts.Bytes = pick(d, 5*second, 60*second)
	p.Timeouts.Idle = pick(d, 0, 10*second, 120*second)
	p.Timeouts.Step = pick(d, 0, 0, 20*second, 5*minute)
	p.Timeouts.MaxTurn = pick(d, 0, 48*hour, 48*hour, 40*second, 5*minute)
	p.Timeouts.Run = pick(d, 0, 48*hour, 48*hour, 48*hour, 3*minute)
	p.Timeouts.Tool = pick(d, 3*second, 10*minute)
	if d.chance(0.1) {
		p.Budget.Tokens = int64(20 + d.n(300))
	}
}

// adviser draws a plugin.
func (d *dice) adviser() (string, hooks.Hook) {
	kind := pick(d, "sensible", "sensible", "sensible", "hostile", "silent", "erring", "hanging", "deaf", "invalid", "random")
	return kind, hooks.Func(func(ctx context.Context, e hooks.RunError) (recovery.Vote, error) {
		if d.chance(0.2) {
			time.Sleep(d.duration(3 * time.Second))
		}
		return d.advise(ctx, kind, e)
	})
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
		return pick(d,
			recovery.Vote{Action: "dance"}, recovery.Vote{Action: recovery.ActionRetry, Delay: -1},
			recovery.Vote{Action: recovery.ActionRetry, Delay: 1 << 62}, recovery.Vote{Action: recovery.ActionSwitchModel},
			recovery.Vote{Action: recovery.ActionSwitchModel, NewModel: "evil/one"},
			recovery.Vote{Action: recovery.ActionRetry, Reason: "\xff"}), nil
	case "random":
		v := recovery.Vote{
			Action: pick(d, recovery.ActionNone, recovery.ActionRetry, recovery.ActionSwitchModel, recovery.ActionFail),
			Delay:  recovery.InMillis(d.duration(pick(d, time.Second, 10*time.Minute))),
		}
		if len(e.Alternatives) > 0 {
			v.NewModel = pick(d, e.Alternatives...).Model
		}
		return v, nil
	}
	return recovery.Vote{}, nil
}

// sensible retries what may pass and switches where it will not.
func sensible(e hooks.RunError) recovery.Vote {
	switch {
	case len(e.Alternatives) > 0 && (!e.Failure.Retryable || e.Attempt >= 2 || e.Failure.RetryAfter > 30_000):
		return recovery.Vote{Action: recovery.ActionSwitchModel, NewModel: e.Alternatives[0].Model, Reason: "it will not pass here"}
	case e.Failure.Retryable:
		return recovery.Vote{Action: recovery.ActionRetry, Delay: recovery.Millis(300 << e.Retries), Reason: "it may pass"}
	}
	return recovery.Vote{Action: recovery.ActionFail, Reason: "nothing helps"}
}

// execution is one run of a tool, as the tool itself noted it.
type execution struct {
	call, tool, key string
	known           bool // its intent was durable
	done            bool // its result was durable already
	at              time.Time
}

// journal is what tools note, apart from the log.
type journal struct {
	mu   sync.Mutex
	list []execution
}

func (j *journal) add(x execution) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.list = append(j.list, x)
}

func (x execution) String() string { return fmt.Sprintf("%s(%s)", x.tool, x.call) }
