package runner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// maxUnsaved is how much text is heard beyond what is durable, in bytes.
const maxUnsaved = 1 << 20

// attempt is one streamed model call. Its goroutine hears the stream; the loop
// takes the text that is not durable yet.
type attempt struct {
	loop       *loop
	id         uint64
	model      string
	began      time.Time
	request    llm.Request
	after      llm.Role // who spoke last before the call
	answer     llm.Answer
	clock      *watchdog
	firstEvent time.Duration
	thought    int      // bytes of reasoning shown
	reach      []string // models that this machine cannot reach when it is offline; empty = nobody asks
	misfit     string   // what is wrong with the arguments of one of its calls, or ""
	by         string   // recovery.ByEngine where the model is an engine; set before the stream begins

	mu      sync.Mutex
	text    []byte // not checkpointed yet
	offset  int    // where text begins
	flushed time.Time
	due     *time.Timer // of the next checkpoint; nil when there is nothing to keep
	hurried bool        // it is due at once
	over    bool
	taken   chan struct{} // of capacity 1: text was taken, or nobody wants it any more
	silent  chan struct{} // closed once the stream has ended, and given what it still held
}

// callModel writes the intent and starts the call, once no model is asked any more and
// its provider has a turn for it.
func (l *loop) callModel(ctx context.Context, key string, c *recovery.CallModel) error {
	if l.asking() {
		return nil
	}
	switch {
	case c.InAir && l.opened == c.Intent.Attempt:
		l.opened = 0
	case c.InAir:
		return fmt.Errorf("run %s: attempt %d is said to be in the air and is not", l.id, c.Intent.Attempt)
	default:
		if !l.isReserved(key) && l.awaitTurn(ctx, key, c.Intent.Model) {
			return nil
		}
		if err := l.begins(ctx, key, c.Intent, c.Intent.Reserve); err != nil {
			return err
		}
	}
	limits := l.timeouts(c)
	ctx, j := l.launchJob(ctx, key)
	a := &attempt{
		loop: l, id: c.Intent.Attempt, model: c.Intent.Model, began: time.Now(), request: l.request(c.Intent),
		reach: l.reach(c.Intent.Model), taken: make(chan struct{}, 1), silent: make(chan struct{}),
	}
	a.flushed = a.began
	if n := len(a.request.Messages); n > 0 {
		a.after = a.request.Messages[n-1].Role
	}
	j.attempt, j.asks = a, true
	a.request.ConnectTimeout = limits.Connect.Duration()
	if limits.Connect == 0 {
		a.request.ConnectTimeout = -1 // off; 0 would be the adapter's own
	}
	a.clock = newWatchdog(limits, j.cancel)
	go a.run(ctx, key, j)
	return nil
}

// timeouts are the clocks of a call. The one that a person asked to wait longer for
// has twice its time.
func (l *loop) timeouts(c *recovery.CallModel) recovery.Timeouts {
	t := l.run.Policy.TimeoutsOf(c.Intent.Model)
	switch c.Doubled {
	case failure.TimerConnect:
		t.Connect *= 2
	case failure.TimerFirstEvent:
		t.FirstEvent *= 2
	case failure.TimerBytes:
		t.Bytes *= 2
	case failure.TimerIdle:
		t.Idle *= 2
	}
	return t
}

func (l *loop) request(b recovery.Began) llm.Request {
	req := llm.Request{
		Session: l.conversation(),
		Model:   b.Model, System: l.run.System, Messages: b.Conversation(l.run),
		MaxOutputTokens: max(l.run.Policy.MaxOutputTokens, b.Adjust.MaxOutputTokens), ReasoningEffort: b.Adjust.ReasoningEffort,
	}
	if b.Tell != "" {
		req.System = strings.TrimPrefix(req.System+"\n\n"+b.Tell, "\n\n")
	}
	for _, t := range l.run.Tools {
		if offered, ok := l.tool(t.Name); !ok || offered.isFor(b.Model) {
			req.Tools = append(req.Tools, t.Tool)
		}
	}
	return req
}

// run hears the stream and tells the loop how it ended. A model that does not
// listen to its context is left behind after a moment.
func (a *attempt) run(ctx context.Context, key string, j *job) {
	var once sync.Once
	end := func(err error) {
		once.Do(func() {
			a.clock.stop()
			a.close()
			cause := context.Cause(ctx)
			offline := a.offline(ctx, err)
			a.loop.post(func(ctx context.Context) error {
				return a.loop.attemptEnded(ctx, key, j, a.checkAnswer(err, cause), offline)
			})
		})
	}
	disarm := context.AfterFunc(ctx, func() {
		time.AfterFunc(stopGrace, func() { end(context.Cause(ctx)) })
	})
	defer disarm()
	end(a.hear(ctx))
}

// hear reads the stream into the answer.
func (a *attempt) hear(ctx context.Context) (err error) {
	defer close(a.silent)
	defer func() {
		if p := recover(); p != nil {
			err = failure.Panicked(p, failure.PhaseMidStream)
			a.loop.r.logger.Error("a model panicked", "run", a.loop.id, "model", a.model, "panic", p, "stack", string(debug.Stack()))
		}
	}()
	model, err := a.loop.r.models.Model(a.model)
	if err != nil {
		return err
	}
	if err := a.loop.mayAct(ctx); err != nil {
		return err
	}
	a.engage(model)
	defer a.loop.r.checkpoints.begin()()
	for d, err := range model.Stream(ctx, a.request) {
		if err != nil {
			return err
		}
		if !a.add(d) || !a.holdBack(ctx) {
			return context.Cause(ctx)
		}
		if problem := a.excess(); problem != nil {
			return a.refused(problem)
		}
		if d.Kind == llm.DeltaStop {
			break
		}
	}
	a.fit(ctx)
	return nil
}

// add takes one delta; false once the attempt is over.
func (a *attempt) add(d llm.Delta) bool {
	if d.Kind == llm.DeltaRepaired {
		a.repaired(d.Repairs)
		return true
	}
	now := time.Now()
	a.clock.heard(now, d)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.over {
		return false
	}
	if a.firstEvent == 0 && d.Kind != llm.DeltaPing {
		a.firstEvent = max(1, now.Sub(a.began)) // 0 = none yet
	}
	a.answer.Add(d)
	switch d.Kind {
	case llm.DeltaText:
		a.loop.r.log.Publish(a.loop.id, timeline.Delta{Run: a.loop.id, Attempt: a.id, Offset: a.offset + len(a.text), Text: d.Text})
		a.text = append(a.text, d.Text...)
		a.flush(now)
	case llm.DeltaThinking:
		if d.Text != "" {
			a.loop.r.log.Publish(a.loop.id, timeline.Delta{Run: a.loop.id, Attempt: a.id, Offset: a.thought, Text: d.Text, Thinking: true})
			a.thought += len(d.Text)
		}
	}
	return true
}

// holdBack hears no more while too much text is not durable, as when the store does not
// write; false once the attempt is over.
func (a *attempt) holdBack(ctx context.Context) bool {
	for held := false; ; held = true {
		a.mu.Lock()
		full, over := len(a.text) >= maxUnsaved, a.over
		a.mu.Unlock()
		if held != full {
			a.clock.hold(full)
		}
		if over || !full {
			return !over
		}
		select {
		case <-a.taken:
		case <-ctx.Done():
			return false
		}
	}
}

// repaired has the loop write down what was changed for the model, unless the run
// knows it.
func (a *attempt) repaired(repairs []llm.Repair) {
	a.loop.post(func(ctx context.Context) error {
		if !a.loop.inAir(a) || slices.Equal(a.loop.run.Repaired[a.model], repairs) {
			return nil
		}
		return a.loop.write(ctx, recovery.Repaired{Attempt: a.id, Model: a.model, Repairs: repairs})
	})
}

// flush has the loop checkpoint when it is time for that, or there is 4 KiB of text; also
// when nothing more is heard.
func (a *attempt) flush(now time.Time) {
	switch {
	case a.due == nil:
		a.due = time.AfterFunc(a.loop.r.checkpoints.every()-now.Sub(a.flushed), a.checkpoint)
	case len(a.text) >= checkpointBytes && !a.hurried:
		a.hurried = true
		a.due.Reset(0)
	}
}

func (a *attempt) checkpoint() {
	a.loop.post(func(ctx context.Context) error {
		if tail, ok := a.take(); ok && a.loop.inAir(a) {
			return a.loop.write(ctx, tail)
		}
		return nil
	})
}

// take gives the text that is not durable yet.
func (a *attempt) take() (recovery.Checkpointed, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.rest()
	if len(a.text) == 0 {
		return recovery.Checkpointed{}, false
	}
	c := recovery.Checkpointed{Attempt: a.id, Offset: a.offset, Text: string(a.text)}
	a.offset += len(a.text)
	a.text = a.text[:0]
	a.flushed = time.Now()
	a.signal()
	return c, true
}

// close makes a stream that does not end harmless.
func (a *attempt) close() {
	a.mu.Lock()
	a.over = true
	a.rest()
	a.signal()
	a.mu.Unlock()
}

func (a *attempt) signal() {
	select {
	case a.taken <- struct{}{}:
	default:
	}
}

// rest forgets a checkpoint that is due.
func (a *attempt) rest() {
	if a.due != nil {
		a.due.Stop()
	}
	a.due, a.hurried = nil, false
}

// inAir reports whether a is the attempt that the run waits for.
func (l *loop) inAir(a *attempt) bool {
	at := l.run.Attempt
	return at != nil && at.InAir && !at.Orphan && at.ID == a.id
}

func (a *attempt) phase() failure.Phase {
	if a.firstEvent == 0 {
		return failure.PhaseBeforeFirstEvent
	}
	return failure.PhaseMidStream
}

// failure makes a Failure of what the runner itself saw of the stream.
func (a *attempt) failure(kind failure.Kind, cause error) *failure.Failure {
	phase := a.phase()
	if a.answer.Stop != "" {
		phase = failure.PhaseEndOfStream
	}
	f := failure.NewFailure(kind, failure.OriginModel, phase, cause)
	f.Model, f.Provider = a.model, entryOf(a.model)
	f.Elapsed = failure.InMillis(time.Since(a.began))
	if expired, ok := errors.AsType[*expiredError](cause); ok {
		f.Timer, f.Limit = expired.timer, expired.limit
	} else if errors.Is(cause, errSlept) {
		f.Variant = "slept"
	} else if cause != nil {
		f.Detail = cause.Error()
	}
	f.Describe(a.heard())
	return f
}

// heard is what the words about a failure say of the answer so far.
func (a *attempt) heard() failure.Words {
	return failure.Words{PartialWords: len(bytes.Fields([]byte(a.answer.Message("").Text())))}
}
