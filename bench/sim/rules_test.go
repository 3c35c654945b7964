package sim

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/recovery"
)

// rules are checked at each event, before it is applied.
var rules = []func(*checker, recovery.Event){
	(*checker).i01nothingAfterTheEnd, (*checker).i04resultsAreFinal, (*checker).i07toolsAreAskedFor,
	(*checker).i10oneAttempt, (*checker).i11withinLimits, (*checker).i12boundedRetries, (*checker).i13waits,
	(*checker).i14longWaitsAreParked, (*checker).i15noAdviceChangesNothing, (*checker).i16pluginsAreQuick,
	(*checker).i17nothingUnasked, (*checker).i18oneAnswer, (*checker).i19allowedModels, (*checker).i20decidedFirst,
	(*checker).i22cancelIsFinal, (*checker).i23oneWinner, (*checker).i24clock, (*checker).i25crashesCount, (*checker).i26asTheLogSays,
	(*checker).i32nothingTwice, (*checker).i39cooldowns, (*checker).i40countersStay, (*checker).i41usageAdds,
	(*checker).i43wordsForPeople, (*checker).i46handedOver,
}

// effect reports whether e begins something.
func effect(e recovery.Event) bool {
	switch e.Body.(type) {
	case recovery.Began, recovery.ToolBegan, recovery.Compacting:
		return true
	}
	return false
}

// byItself returns the open failure to which a Began responds; nil if there is none, if a person
// decided, or if the failure was only passed to the model.
func (c *checker) byItself(e recovery.Event) (recovery.Began, *recovery.OpenFailure) {
	b, ok := e.Body.(recovery.Began)
	if !ok || c.accepted || c.run.Open == nil || c.run.Open.Decision == nil || told(c.run.Open) {
		return b, nil
	}
	return b, c.run.Open
}

// told reports whether no plugin had an opinion about a tool's failure: the model is told, and
// continues (spec §5).
func told(o *recovery.OpenFailure) bool {
	return o.CallID != "" && o.Decision != nil && o.Decision.Action == recovery.ActionNone
}

func (c *checker) i01nothingAfterTheEnd(e recovery.Event) {
	if _, note := e.Body.(recovery.Noted); c.end > 0 && !note {
		c.complain("I01: event %d (%s) follows the end", e.Seq, e.Type())
	}
}

func (c *checker) i04resultsAreFinal(e recovery.Event) {
	switch b := e.Body.(type) {
	case recovery.ToolBegan:
		if c.returned[b.CallID] {
			c.complain("I04: event %d runs %s, which has returned", e.Seq, b.CallID)
		}
	case recovery.ToolReturned:
		if c.returned[b.CallID] {
			c.complain("I04: event %d: %s returned twice", e.Seq, b.CallID)
		}
	}
}

func (c *checker) i07toolsAreAskedFor(e recovery.Event) {
	if b, ok := e.Body.(recovery.Answered); ok && b.Stop == "" {
		c.complain("I07: event %d: an answer whose end was not seen", e.Seq)
	}
	b, ok := e.Body.(recovery.ToolBegan)
	if !ok {
		return
	}
	call, asked := c.calls[b.CallID]
	if !asked {
		c.complain("I07: event %d runs %s, which no answer asked for", e.Seq, b.CallID)
	} else if args := map[string]any{}; json.Unmarshal(call.Args, &args) != nil {
		c.complain("I07: event %d runs %s with %q", e.Seq, b.CallID, call.Args)
	}
}

func (c *checker) i10oneAttempt(e recovery.Event) {
	a := c.run.Attempt
	about := uint64(0)
	switch b := e.Body.(type) {
	case recovery.Began:
		if a != nil && a.InAir() {
			c.complain("I10: event %d begins attempt %d while %d is in the air", e.Seq, b.Attempt, a.ID)
		}
	case recovery.Answered:
		about = b.Attempt
	case recovery.Failed:
		about = b.Attempt
	}
	if about != 0 && (a == nil || !a.InAir() || a.ID != about) {
		c.complain("I10: event %d (%s) is about attempt %d, which is not in the air", e.Seq, e.Type(), about)
	}
}

func (c *checker) i11withinLimits(e recovery.Event) {
	if !effect(e) {
		return
	}
	r := c.run
	late := c.w.disk.slack(time.Now()) // a write may take long
	if run := r.Policy.Timeouts.Run; run > 0 && e.Time.Sub(r.StartedAt) > run.Duration()+late {
		c.complain("I11: event %d (%s) is after the run's timeout", e.Seq, e.Type())
	}
	if turn := r.Policy.Timeouts.MaxTurn; turn > 0 && e.Time.Sub(r.StartedAt) > turn.Duration()+r.Parked+late {
		c.complain("I11: event %d (%s) is after the turn's time", e.Seq, e.Type())
	}
	if b := r.Policy.Budget.Tokens; b > 0 && r.Spent.Tokens >= b {
		c.complain("I11: event %d (%s) with %d of %d tokens spent", e.Seq, e.Type(), r.Spent.Tokens, b)
	}
}

func (c *checker) i12boundedRetries(e recovery.Event) {
	if _, ok := e.Body.(recovery.Began); ok && c.began+1 > recovery.MaxAttemptsInAll+c.granted {
		c.complain("I12: event %d is attempt %d of one model call (%d granted)", e.Seq, c.began+1, c.granted)
	}
	if b, ok := e.Body.(recovery.Failed); ok && b.Attempt != 0 && c.failed+1 > recovery.MaxFailedAttempts+c.grants {
		c.complain("I12: event %d: %d attempts have failed", e.Seq, c.failed+1)
	}
	_, o := c.byItself(e)
	if o == nil {
		return
	}
	if o.Decision.BlockedBy != "" {
		c.complain("I12: event %d begins although %s forbids it", e.Seq, o.Decision.BlockedBy)
	}
	if waited := e.Time.Sub(o.At); c.began >= 2 && waited < recovery.MinDelay.Duration() {
		c.complain("I12: event %d begins %s after the failure", e.Seq, waited)
	}
}

func (c *checker) i13waits(e recovery.Event) {
	switch b := e.Body.(type) {
	case recovery.Decided:
		if d := b.Decision.Delay; d < 0 || d > failure.MaxDelay && b.Decision.BlockedBy == "" {
			c.complain("I13: event %d decides to wait %d ms", e.Seq, d)
		}
	case recovery.Waiting:
		if o := c.run.Open; o != nil && !c.accepted && b.For != recovery.WaitNetwork && (b.Until.Before(o.At) || b.Until.Sub(o.At) > failure.MaxDelay.Duration()) {
			c.complain("I13: event %d waits for %s", e.Seq, b.Until.Sub(o.At))
		}
	}
	b, o := c.byItself(e)
	if o == nil || b.Model != o.Failure.Model {
		return
	}
	if waited := e.Time.Sub(o.At); waited < o.Failure.RetryAfter.Duration() {
		c.complain("I13: event %d asks %s again after %s; it asked for %d ms", e.Seq, b.Model, waited, o.Failure.RetryAfter)
	}
	if e.Time.Before(o.Failure.ResetsAt) {
		c.complain("I13: event %d asks %s again before %s", e.Seq, b.Model, o.Failure.ResetsAt)
	}
}

func (c *checker) i14longWaitsAreParked(e recovery.Event) {
	if due, ok := e.Body.(recovery.Due); ok && c.sleeps && due.Timer == failure.TimerWait {
		c.complain("I14: event %d: a wait of more than 60 s was waited for in the process", e.Seq)
	}
}

// i15noAdviceChangesNothing: without a valid opinion from a plugin, the decision is the one that is
// made without plugins.
func (c *checker) i15noAdviceChangesNothing(e recovery.Event) {
	b, ok := e.Body.(recovery.Decided)
	if !ok || slices.ContainsFunc(c.votes, func(v recovery.Vote) bool { return v.Error == "" && c.sound(v) }) {
		return
	}
	if b.Decision.Action != recovery.ActionNone || b.Decision.By != nil {
		c.complain("I15: event %d decides %s on nobody's advice", e.Seq, b.Decision.Action)
	}
}

// sound reports whether a vote is a valid opinion.
func (c *checker) sound(v recovery.Vote) bool {
	switch v.Action {
	case recovery.ActionRetry, recovery.ActionFail:
		return v.Delay >= 0 && v.Delay <= failure.MaxDelay
	case recovery.ActionSwitchModel:
		return slices.Contains(c.run.Policy.Models, v.NewModel)
	}
	return false
}

func (c *checker) i16pluginsAreQuick(e recovery.Event) {
	if _, ok := e.Body.(recovery.Decided); !ok {
		return
	}
	if took := time.Since(c.asked); took > 5*time.Second+c.w.disk.slack(c.asked) {
		c.complain("I16: event %d: the plugins took %s", e.Seq, took)
	}
}

func (c *checker) i17nothingUnasked(e recovery.Event) {
	if c.run.Policy.AutoRecover || c.accepted {
		return
	}
	if _, o := c.byItself(e); o != nil {
		c.complain("I17: event %d begins and nobody accepted it", e.Seq)
	}
	if _, ok := e.Body.(recovery.Waiting); ok {
		c.complain("I17: event %d waits and nobody accepted it", e.Seq)
	}
	if _, ok := e.Body.(recovery.Suggested); ok && c.run.SuggestionOpen() {
		c.complain("I17: event %d is a second suggestion", e.Seq)
	}
}

func (c *checker) i18oneAnswer(e recovery.Event) {
	b, ok := e.Body.(recovery.Accepted)
	if c.cutShort != "" && b.Suggestion != c.cutShort {
		c.complain("I18: event %d (%s) is not the answer that cut %s short", e.Seq, e.Type(), c.cutShort)
	}
	if !ok {
		return
	}
	if c.answered[b.Suggestion] {
		c.complain("I18: event %d accepts %s again", e.Seq, b.Suggestion)
	}
	if s := c.run.Suggestion; s != nil && s.ID == b.Suggestion && !e.Time.Before(s.ExpiresAt.Add(c.w.disk.slack(time.Now()))) {
		c.complain("I18: event %d accepts %s after its expiry", e.Seq, b.Suggestion)
	}
}

func (c *checker) i19allowedModels(e recovery.Event) {
	switch b := e.Body.(type) {
	case recovery.Began:
		if !slices.Contains(c.run.Policy.Models, b.Model) {
			c.complain("I19: event %d asks %q", e.Seq, b.Model)
		}
	case recovery.Decided:
		if o := c.run.Open; o != nil && b.Decision.Action == recovery.ActionSwitchModel && !offered(o, b.Decision.NewModel) {
			c.complain("I19: event %d switches to %q, which is no alternative", e.Seq, b.Decision.NewModel)
		}
	}
}

func offered(o *recovery.OpenFailure, model string) bool {
	return slices.ContainsFunc(o.Alternatives, func(a recovery.Alternative) bool { return a.Model == model })
}

func (c *checker) i20decidedFirst(e recovery.Event) {
	o := c.run.Open
	switch b := e.Body.(type) {
	case recovery.Began:
		if o == nil && c.began > 0 {
			c.complain("I20: event %d tries again without a failure", e.Seq)
		}
		if o != nil && !told(o) && (o.Decision == nil || o.Decision.Action != recovery.ActionRetry && o.Decision.Action != recovery.ActionSwitchModel) {
			c.complain("I20: event %d begins without a decision to", e.Seq)
		}
	case recovery.Waiting:
		if o == nil || o.Decision == nil {
			c.complain("I20: event %d waits without a decision", e.Seq)
		}
	case recovery.Decided:
		if o == nil || o.Occasion() != b.Occasion {
			c.complain("I20: event %d decides about %s, which is not open", e.Seq, b.Occasion)
		}
		if by := b.Decision.By; b.Decision.Action != recovery.ActionNone && !c.votedSo(by, b.Decision) {
			c.complain("I20: event %d does not say by whom: %+v", e.Seq, by)
		}
	}
}

// votedSo reports whether by names a plugin that voted for the decision in the log. If a limit
// blocked the vote's action, or in the last round of a call's patience, which asks each model in
// turn, the decision may differ from the vote.
func (c *checker) votedSo(by *recovery.Voter, d recovery.Decision) bool {
	return by != nil && slices.ContainsFunc(c.votes, func(v recovery.Vote) bool {
		ranked := by.Rank < len(c.run.Policy.Plugins) && c.run.Policy.Plugins[by.Rank] == by.Plugin
		said := v.Action == d.Action || (d.BlockedBy != "" || d.LastRound) && c.sound(v)
		return ranked && said && v.Plugin == by.Plugin && v.Version == by.Version && v.Latency == by.Millis
	})
}

func (c *checker) i22cancelIsFinal(e recovery.Event) {
	if c.cancelled.IsZero() {
		return
	}
	if effect(e) {
		c.complain("I22: event %d (%s) follows a cancel", e.Seq, e.Type())
	}
	if _, ok := e.Body.(recovery.Ended); !ok {
		return
	}
	since := c.cancelled
	if c.claimedAt.After(since) {
		since = c.claimedAt // no process drove the run before
	}
	if took := time.Since(since); took > 2*time.Second+c.w.disk.slack(since) {
		c.complain("I22: cancelled, and ended %s later", took)
	}
}

// i23oneWinner: of two events that race for a run, the first one in the log decides, and nothing
// later contradicts it.
func (c *checker) i23oneWinner(e recovery.Event) {
	switch b := e.Body.(type) {
	case recovery.Ended:
		if !c.cancelled.IsZero() && b.Status != recovery.StatusCancelled {
			c.complain("I23: event %d: %s, and a cancel came before", e.Seq, b.Status)
		}
		if c.cancelled.IsZero() && b.Status == recovery.StatusCancelled && !c.stoppedWaiting() {
			c.complain("I23: event %d: cancelled, and nobody asked for it", e.Seq)
		}
	case recovery.Accepted:
		if o := c.run.Open; o != nil && c.expired[o.Seq] {
			c.complain("I23: event %d accepts what has expired", e.Seq)
		}
	case recovery.Due:
		if b.Timer == failure.TimerExpiry && c.accepted {
			c.complain("I23: event %d: what was answered expires", e.Seq)
		}
		if b.Timer == failure.TimerWait && c.accepted && c.run.Wait == nil {
			c.complain("I23: event %d: a wait that was cut short is over", e.Seq)
		}
	}
}

// stoppedWaiting reports whether a person's answer was to cancel.
func (c *checker) stoppedWaiting() bool { return c.accepted }

func (c *checker) i25crashesCount(e recovery.Event) {
	if _, o := c.byItself(e); o != nil && c.crashes >= recovery.MaxInterruptedCrashes {
		c.complain("I25: event %d goes on by itself after %d crashes", e.Seq, c.crashes)
	}
	if c.run.Crashes != c.crashes {
		c.complain("I25: before event %d the run counts %d crashes; there were %d", e.Seq, c.run.Crashes, c.crashes)
	}
}

// i26asTheLogSays: what the runner concludes follows from the log alone.
func (c *checker) i26asTheLogSays(e recovery.Event) {
	switch e.Body.(type) {
	case recovery.Decided, recovery.Suggested, recovery.Waiting, recovery.Ended:
	default:
		return
	}
	wanted := recovery.Next(c.run)
	if len(wanted) != 1 || !reflect.DeepEqual(wanted[0].Record, e.Body) {
		c.complain("I26: event %d is %+v; the log leads to %+v", e.Seq, e.Body, wanted)
	}
}

// i32nothingTwice: an append that seemed to fail and is repeated writes nothing twice.
func (c *checker) i32nothingTwice(e recovery.Event) {
	switch b := e.Body.(type) {
	case recovery.Began:
		if b.Attempt != c.run.Attempts+1 {
			c.complain("I32: event %d begins attempt %d after attempt %d", e.Seq, b.Attempt, c.run.Attempts)
		}
	case recovery.ToolBegan:
		if b.Try != c.begun[b.CallID] {
			c.complain("I32: event %d is try %d of %s; %d were begun", e.Seq, b.Try, b.CallID, c.begun[b.CallID])
		}
	case recovery.Decided:
		if o := c.run.Open; o != nil && o.Decision != nil {
			c.complain("I32: event %d decides again", e.Seq)
		}
	case recovery.Voted:
		voted := func(v recovery.Vote) bool { return v.Plugin == b.Vote.Plugin && v.Shadow == b.Vote.Shadow }
		if slices.ContainsFunc(c.votes, voted) {
			c.complain("I32: event %d: %s votes again", e.Seq, b.Vote.Plugin)
		}
	}
}

func (c *checker) i39cooldowns(e recovery.Event) {
	b, ok := e.Body.(recovery.Failed)
	if !ok {
		return
	}
	for _, a := range b.Alternatives {
		if until := c.cooling[a.Model]; until.After(e.Time) {
			c.complain("I39: event %d offers %s, which cools down until %s", e.Seq, a.Model, until)
		}
	}
}

func (c *checker) i40countersStay(e recovery.Event) {
	if c.run.Call.Attempts != c.began {
		c.complain("I40: before event %d the run counts %d attempts of its call; %d were begun", e.Seq, c.run.Call.Attempts, c.began)
	}
}

func (c *checker) i41usageAdds(e recovery.Event) {
	if c.run.Usage != c.usage {
		c.complain("I41: before event %d the attempts used %+v, the run %+v", e.Seq, c.usage, c.run.Usage)
	}
}

// i46handedOver: an attempt is handed over only by the process that began it, and only after that
// was told to end; a process that is told to end does so unless it has another fault.
func (c *checker) i46handedOver(e recovery.Event) {
	b, ok := e.Body.(recovery.Failed)
	if !ok || b.Failure.Kind != failure.KindInterrupted {
		return
	}
	p := c.w.named(c.by)
	switch {
	case p == nil || b.Attempt == 0:
	case b.Cause != recovery.CauseHandedOver && p.leftInOrder():
		c.complain("I46: event %d: attempt %d of %s was found, and not handed over", e.Seq, b.Attempt, c.by)
	case b.Cause == recovery.CauseHandedOver && (p.stopping.Err() == nil || c.run.Owner != c.by):
		c.complain("I46: event %d: attempt %d is handed over by %s, and %s, which nobody told to end, began it", e.Seq, b.Attempt, c.run.Owner, c.by)
	}
}

func (c *checker) i43wordsForPeople(e recovery.Event) {
	if len(e.Text) > recovery.MaxText {
		c.complain("I43: event %d says %d bytes", e.Seq, len(e.Text))
	}
	c.fitForPeople(e, e.Text)
	switch b := e.Body.(type) {
	case recovery.Failed:
		c.fitForPeople(e, b.Failure.Title+b.Failure.Message)
		if !utf8.ValidString(b.Failure.Detail) || len(b.Failure.Detail) > failure.MaxDetail {
			c.complain("I43: event %d: a detail of %d bytes: %.40q", e.Seq, len(b.Failure.Detail), b.Failure.Detail)
		}
	case recovery.Suggested:
		c.fitForPeople(e, b.Suggestion.Title+b.Suggestion.Message)
	}
}

func (c *checker) fitForPeople(e recovery.Event, text string) {
	const most = 4 << 10
	for _, unfit := range []string{"<html", "goroutine ", canary} {
		if strings.Contains(text, unfit) {
			c.complain("I43: event %d says %q to people: %.200s", e.Seq, unfit, text)
		}
	}
	if len(text) > most || !utf8.ValidString(text) {
		c.complain("I43: event %d says %d bytes to people: %.40q", e.Seq, len(text), text)
	}
}
