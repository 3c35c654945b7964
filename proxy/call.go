package proxy

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
)

const (
	holdHeaders = 10 * time.Second // the longest that a caller waits for a status
	aliveEvery  = 10 * time.Second // between keep-alives after that
)

// mostSilence is how long a caller may see neither content nor an end: Codex gives up after
// that.
const mostSilence = 300 * time.Second

// call is one call in progress. It implements Caller for its run.
type call struct {
	proxy  *Proxy
	reply  *reply
	cancel context.CancelCauseFunc
	began  time.Time // the run

	mu     sync.Mutex
	alive  *time.Timer // for keepAlive; nil = the run has not begun, or the call is over
	commit commit
	said   *failure.Failure     // of the last failed attempt, as its provider reported it
	open   *recovery.Suggestion // what a person is asked, or was to be asked
	counts bool                 // it is counted among the calls that wait for a person
}

// Began implements Caller.
func (c *call) Began(attempt uint64, model string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answered()
	c.commit.began(attempt, model)
}

// GoesOn implements Caller.
func (c *call) GoesOn(attempt uint64, model string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answered()
	c.commit.goesOn(attempt, model)
}

// Heard implements Caller.
func (c *call) Heard(_ context.Context, attempt uint64, d llm.Delta) error {
	c.mu.Lock()
	out, ok := c.commit.heard(attempt, d)
	model, attempts, framed := c.commit.model, c.commit.attempts, c.commit.framed
	c.mu.Unlock()
	if !ok {
		return errSealed
	}
	err := c.reply.say(model, attempts, framed, out, d.More)
	if err != nil {
		c.cancel(err)
	}
	return err
}

// Failed implements Caller. The provider's own error is kept for the caller, but not written
// down.
func (c *call) Failed(_ uint64, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.said, _ = failure.AsFailure(err)
}

// inFull is f with the provider's own words, if they are known here.
func (c *call) inFull(f *failure.Failure) *failure.Failure {
	if f == nil || c.said == nil || c.said.Kind != f.Kind || c.said.Model != f.Model {
		return f
	}
	full := *f
	full.Title, full.Message, full.Detail = c.said.Title, c.said.Message, ownWords(c.said)
	return &full
}

// Shown implements Caller.
func (c *call) Shown(attempt uint64) recovery.Shown {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.commit.seal(attempt)
}

// standing says which model is asked, how many attempts there were, and whether the caller has
// seen content.
func (c *call) standing() (model string, attempts int, shown bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.commit.model, c.commit.attempts, c.commit.shown != recovery.ShownNothing
}

// call answers a call on w.
func (p *Proxy) call(w http.ResponseWriter, req *http.Request, a asked, route Route, models []string) {
	ctx, cancel := context.WithCancelCause(req.Context())
	defer cancel(nil)
	c := &call{
		proxy: p,
		reply: &reply{asked: a, now: time.Now, w: w, last: time.Now()}, cancel: cancel,
		commit: commit{mode: route.Mode, model: models[0], usages: a.dialect.usage},
	}
	made := Call{
		Models: models, Request: p.cfg.request(req, a, route, models), Asked: recovery.DigestOf(a.body), Delivery: delivery(route.Mode),
		Keep: route.Keep, AutoRecover: route.AutoRecover, SessionKey: session(req.Header, a), Caller: c, Begun: c.begun,
	}
	if p.cfg.AskFor > 0 && !route.AutoRecover {
		made.Suggested, made.AskFor = c.suggested, p.cfg.AskFor
	}
	defer c.leave()
	f, err := p.cfg.Runs.Call(ctx, made)
	if err != nil {
		p.notBegun(w, a.dialect, err)
		return
	}
	defer c.reply.leave()
	switch why := context.Cause(ctx); {
	case f != nil && errors.Is(why, errSilent):
		model, _, _ := c.standing()
		f = silence(model)
	case why != nil && !errors.Is(why, errSilent) && !errors.Is(why, errMany):
		return // the caller has gone
	}
	p.end(c, models[0], f)
}

// begun names the run, and watches over the caller's connection from then on.
func (c *call) begun(run string) {
	c.reply.run, c.began = run, time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.alive = time.AfterFunc(holdHeaders, c.keepAlive)
}

// keepAlive keeps a connection alive on which nothing is said for long, and gives the call up if
// its caller would.
func (c *call) keepAlive() {
	model, attempts, shown := c.standing()
	if !shown && time.Since(c.began) >= mostSilence {
		c.cancel(errSilent)
		return
	}
	if err := c.reply.live(model, attempts, aliveEvery); err != nil {
		c.cancel(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.alive != nil {
		c.alive.Reset(aliveEvery)
	}
}

// notBegun answers a call whose run did not begin.
func (p *Proxy) notBegun(w http.ResponseWriter, d *dialect, err error) {
	if errors.Is(err, ErrStore) {
		p.cfg.Logger.Warn("calls are refused, which could not be written down", "err", err)
		p.refuse(w, d, http.StatusServiceUnavailable, "This proxy cannot write down what becomes of a call, and takes none until it can: `mulligan doctor` says what is wrong with its store.")
		return
	}
	p.refuse(w, d, http.StatusNotFound, err.Error())
}

// delivery is the recovery.Delivery for a mode.
func delivery(mode Mode) recovery.Delivery {
	switch mode {
	case ModeHold:
		return recovery.DeliverWhole
	case ModeError:
		return recovery.DeliverFinal
	}
	return recovery.DeliverContinued
}

// end gives the caller the outcome of the run.
func (p *Proxy) end(c *call, first string, f *failure.Failure) {
	c.mu.Lock()
	f = c.unanswered(c.inFull(f), time.Now())
	model, attempts, framed := c.commit.model, c.commit.attempts, c.commit.framed
	var rest []llm.Delta
	if f == nil || c.commit.refusedItself(f) {
		rest = c.commit.whole()
	}
	c.commit.seal(c.commit.attempt)
	var head *llm.Frame
	var body []byte
	if f != nil && ofTheCaller(f) {
		head, body = c.commit.refused()
	}
	c.mu.Unlock()
	p.tally.count(first, model, attempts, f)
	var err error
	if rest != nil {
		err = c.reply.finish(model, attempts, framed, rest)
	} else {
		err = c.reply.fail(model, attempts, f, head, body)
	}
	if err != nil {
		p.cfg.Logger.Debug("a caller has not read its answer", "run", c.reply.run, "err", err)
	}
}

// request is the request, with the caller's own bytes for a model of its wire.
func (c *Config) request(r *http.Request, a asked, route Route, models []string) llm.Request {
	request := a.Request
	request.Credential = c.credential(route, models, a.dialect, r.Header)
	request.Native = &llm.Native{Wire: a.dialect.entry, Body: a.body, Header: headersUp(r.Header), Query: r.URL.RawQuery, Stream: a.Stream}
	return request
}
