package runner

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
)

// attempt is one streamed model call. Its own goroutine reads the stream.
type attempt struct {
	loop       *loop
	id         uint64
	model      string
	began      time.Time
	request    llm.Request
	after      llm.Role // the role of the last message before the call
	answer     llm.Answer
	clock      *watchdog
	firstEvent time.Duration
	thought    int         // bytes of reasoning shown
	reach      []string    // models that must be unreachable for this machine to count as offline; empty = offline does not matter
	misfit     string      // what is wrong with the arguments of one of its calls; "" if nothing is
	misformed  error       // why the answer does not have the form that the run demands
	by         string      // recovery.ByEngine if the model is an engine; set before the stream begins
	quiet      bool        // nothing of the answer may be written or published
	asked      llm.Request // the request for the whole answer; if from is set, request asks only for its rest
	from       *goingOn    // nil = the attempt starts the answer from its beginning
	joined     []llm.Delta // the deltas that a delta becomes as part of the answer
	lost       bool        // the rest does not fit the partial text, or the caller refused a delta
	unable     error       // why the model cannot be asked
	theirs     []Tool      // the tools that the run's caller carries out

	mu      sync.Mutex
	spoke   time.Time    // when text was last received; zero = never
	headers *llm.Headers // as the model's adapter told them; nil = it has not
	saving  func()       // cancels the pending or running save of the tail; nil = there is none
	over    bool
	silent  chan struct{} // closed once the stream has ended and its last text was recorded
}

// callModel writes the intent and starts the call.
func (l *loop) callModel(ctx context.Context, key string, c *recovery.CallModel) error {
	if c.InAir {
		return fmt.Errorf("run %s: attempt %d is said to be in the air and is not", l.id, c.Intent.Attempt)
	}
	if err := l.begin(ctx, c.Intent); err != nil {
		return err
	}
	go l.prepare(ctx, key, c)()
	return nil
}

// prepare makes the attempt of a call whose intent is written. It is in the air as soon as run is
// called, on a goroutine of its own.
func (l *loop) prepare(ctx context.Context, key string, c *recovery.CallModel) (run func()) {
	limits := l.timeouts(c)
	ctx, j := l.launchJob(ctx, key)
	a := &attempt{
		loop: l, id: c.Intent.Attempt, model: c.Intent.Model, began: time.Now(), request: l.request(c.Intent),
		reach: l.reach(c.Intent.Model), silent: make(chan struct{}), quiet: l.keepsFigures(), theirs: l.callersTools(),
	}
	if n := len(a.request.Messages); n > 0 {
		a.after = a.request.Messages[n-1].Role
	}
	j.attempt, j.asks = a, true
	a.request.ConnectTimeout = limits.Connect.Duration()
	if limits.Connect == 0 {
		a.request.ConnectTimeout = -1 // off; 0 would be the adapter's own
	}
	a.request.OnHeaders = a.tellHeaders
	a.ready(c.Intent)
	a.clock = newWatchdog(limits, j.cancel)
	return func() { a.run(ctx, key, j) }
}

// ready prepares the request.
func (a *attempt) ready(intent recovery.Began) {
	a.asked = a.request
	a.leaveOutRefused()
	a.request.Messages, a.request.Native = a.asked.Messages, a.asked.Native
	if intent.Continues != 0 {
		a.unable = a.goOn(a.loop.saidBefore())
	}
}

// timeouts are the timers of a call. The timer for which a person chose to wait longer has twice
// its usual limit.
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
	if l.call != nil {
		return l.call.asked(b)
	}
	req := llm.Request{
		Session: l.conversation(),
		Model:   b.Model, System: l.run.System, Messages: b.Conversation(l.run),
		MaxOutputTokens: max(l.run.Policy.MaxOutputTokens, b.Adjust.MaxOutputTokens), ReasoningEffort: b.Adjust.ReasoningEffort,
	}
	if b.Tell != "" {
		req.System = strings.TrimPrefix(req.System+"\n\n"+b.Tell, "\n\n")
	}
	for _, t := range l.run.Tools {
		if offered, ok := l.tool(t.Name); !ok || t.By == recovery.ByCaller || offered.isFor(b.Model) {
			req.Tools = append(req.Tools, t.Tool)
		}
	}
	l.run.Shape(&req)
	return req
}

// run reads the stream and tells the loop how it ended. A model that does not stop when its context
// ends is abandoned after a moment.
func (a *attempt) run(ctx context.Context, key string, j *job) {
	growStack(false)
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
	err := a.hear(ctx)
	disarm()
	end(err)
}

// hear reads the answer, from one stream or more.
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
	defer a.loop.r.tails.begin()()
	for {
		a.tellBegan()
		switch err := a.stream(ctx, model); {
		case err == nil:
			a.fit(ctx)
			return nil
		case !a.askOtherwise(err):
			return err
		}
	}
}

// ask asks the model. It is no part of stream, so that the copy of the request is not on the stack
// while the answer is read, which can take minutes.
//
//go:noinline
func (a *attempt) ask(ctx context.Context, model llm.Model) iter.Seq2[llm.Delta, error] {
	return model.Stream(ctx, a.request)
}

// stream reads one stream into the answer.
func (a *attempt) stream(ctx context.Context, model llm.Model) error {
	if a.unable != nil {
		return a.unable
	}
	for heard, err := range a.ask(ctx, model) {
		if err != nil {
			return err
		}
		deltas, err := a.join(heard)
		if err != nil {
			return err
		}
		for _, d := range deltas {
			if err := a.hearOne(ctx, d); err != nil {
				return err
			}
		}
		if heard.Kind == llm.DeltaStop {
			break
		}
	}
	return nil
}

// hearOne adds a delta to the answer and passes it on.
func (a *attempt) hearOne(ctx context.Context, d llm.Delta) error {
	now := time.Now()
	if !a.add(now, d) {
		return cmp.Or(context.Cause(ctx), errStopped)
	}
	if err := a.pass(ctx, now, d); err != nil {
		return cmp.Or(context.Cause(ctx), err)
	}
	if problem := a.excess(); problem != nil {
		return a.refused(problem)
	}
	return nil
}

// add adds a delta that is received now; false once the attempt is over.
func (a *attempt) add(now time.Time, d llm.Delta) bool {
	if d.Kind == llm.DeltaRepaired {
		a.repaired(d.Repairs)
		return true
	}
	a.clock.heard(now, d)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.over {
		return false
	}
	if a.firstEvent == 0 && !lifeless(d) {
		a.firstEvent = max(1, now.Sub(a.began)) // 0 = none yet
	}
	if d.Kind == llm.DeltaText {
		a.spoke = now
	}
	if !a.quiet {
		a.show(d)
	}
	a.answer.Add(d)
	return true
}

// repaired makes the loop record what was changed for the model, unless the log says so already.
func (a *attempt) repaired(repairs []llm.Repair) {
	a.loop.post(func(ctx context.Context) error {
		if !a.loop.inAir(a) || slices.Equal(a.loop.run.Repaired[a.model], repairs) {
			return nil
		}
		return a.loop.write(ctx, recovery.Repaired{Attempt: a.id, Model: a.model, Repairs: repairs})
	})
}

// tellHeaders keeps the headers for the event of a failure.
func (a *attempt) tellHeaders(h llm.Headers) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.headers = &h
}

func (a *attempt) toldHeaders() *llm.Headers {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.headers
}

// close makes the attempt ignore everything that its stream still yields. Its tail is no longer
// saved.
func (a *attempt) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.over = true
	if a.saving != nil {
		a.saving()
	}
}

// inAir reports whether a is the attempt that the run is waiting for.
func (l *loop) inAir(a *attempt) bool {
	at := l.run.Attempt
	return at != nil && at.State == recovery.AttemptInAir && at.ID == a.id
}

func (a *attempt) phase() failure.Phase {
	if a.firstEvent == 0 {
		return failure.PhaseBeforeFirstEvent
	}
	return failure.PhaseMidStream
}

// failure makes a Failure of something that the runner itself noticed about the stream.
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

// heard is how much of the answer was received, for the words about a failure.
func (a *attempt) heard() failure.Words {
	return failure.Words{PartialWords: len(bytes.Fields([]byte(a.answer.Message("").Text())))}
}
