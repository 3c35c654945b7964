package sim

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// checker checks each event as soon as it is durable, against the state before the event, and what
// is left when the world has ended. Each complaint begins with the invariant. The disk calls it
// with its lock held.
type checker struct {
	w      *world
	run    *recovery.Run // before the event
	stored *recovery.Run // the same, folded from the events' stored form

	// Moments on the monotonic clock. Injected faults may have cost time since then.
	cancelled, claimedAt time.Time
	asked                time.Time // when the plugins were asked

	end       uint64                  // the event that ended the run
	epoch     moment                  // when the owner claimed the run
	began     int                     // attempts of the current model call
	by        string                  // the owner that began the last attempt
	again     bool                    // the current attempt repeats a request whose answer was truncated
	cut       string                  // the truncated answer, until another one replaces it
	failed    int                     // all failed attempts
	granted   int                     // attempts granted by a person within the current model call
	grants    int                     // attempts granted by a person in the whole run
	taken     int                     // how often the run changed its owner
	crashes   int                     // consecutive crashes without a finished step between them
	accepted  bool                    // a person has answered since the last failure
	cutShort  string                  // the id of the call that a person cut short, if the last event says so
	sleeps    bool                    // the last event began a wait that is too long to spend in the process
	calls     map[string]llm.ToolCall // the calls of the last answer
	begun     map[string]int          // how often each of those calls was started
	returned  map[string]bool         // which of those calls have returned
	answered  map[string]bool         // suggestions that a person answered
	reruns    map[string]int          // reruns of each call that a person asked for
	summaries uint64                  // summaries that were requested
	expired   map[uint64]bool         // expired suggestions, by their failure's event
	votes     []recovery.Vote         // votes on the open failure
	cooling   map[string]time.Time    // by model
	usage     llm.Usage
	wrong     []string
}

func newChecker(w *world) *checker {
	return &checker{
		w: w, run: &recovery.Run{}, stored: &recovery.Run{}, begun: map[string]int{}, returned: map[string]bool{},
		answered: map[string]bool{}, reruns: map[string]int{}, expired: map[uint64]bool{}, cooling: map[string]time.Time{},
	}
}

func (c *checker) complain(format string, args ...any) {
	c.wrong = append(c.wrong, fmt.Sprintf(format, args...))
}

// claimed checks a new lease against the previous one.
func (c *checker) claimed(before, after timeline.Lease) {
	if before.Owner != after.Owner && time.Now().Before(before.Expires) {
		c.complain("I34: %s claims the run, which %s has until %s", after.Owner, before.Owner, before.Expires)
	}
	if after.Epoch <= before.Epoch {
		c.complain("I34: epoch %d follows epoch %d", after.Epoch, before.Epoch)
	}
}

// kept checks a successful append: its lease against the newest one, and how long followers delayed
// the writer.
func (c *checker) kept(l, newest timeline.Lease, took time.Duration) {
	if l.Epoch != newest.Epoch {
		c.complain("I34: epoch %d writes after event %d, and epoch %d has the run", l.Epoch, c.run.Seq, newest.Epoch)
	}
	if took > 0 {
		c.complain("I30: an append waited %s for a follower", took)
	}
}

// see checks one event, then applies it.
func (c *checker) see(e recovery.Event) {
	if e.Seq != c.run.Seq+1 {
		c.complain("I02: event %d follows event %d", e.Seq, c.run.Seq)
		return
	}
	e = bare(e)
	for _, rule := range rules {
		rule(c, e)
	}
	c.note(e)
	if err := c.run.Apply(e); err != nil {
		c.complain("I26: %v", err)
	}
	c.fold(e)
}

// fold compares the state folded from the events with the state folded from their stored form.
func (c *checker) fold(e recovery.Event) {
	var again recovery.Event
	data, err := json.Marshal(e)
	if err == nil {
		err = json.Unmarshal(data, &again)
	}
	if err == nil {
		err = c.stored.Apply(again)
	}
	if err != nil {
		c.complain("I26: event %d: %v", e.Seq, err)
		return
	}
	if strings.Contains(string(data), canary) {
		c.complain("I21: event %d tells the key: %s", e.Seq, data)
	}
	if !reflect.DeepEqual(c.run, c.stored) && !cmp.Equal(c.run, c.stored, likeStored) {
		c.complain("I26: at event %d the log folds to\n%s\nits stored form to\n%s", e.Seq, exported(c.run), exported(c.stored))
	}
}

// likeStored treats empty and missing values as equal, as the stored form does.
var likeStored = cmp.Options{cmp.Exporter(func(reflect.Type) bool { return true }), cmpopts.EquateEmpty()}

// bare is e without the original error of a failure, which is not stored.
func bare(e recovery.Event) recovery.Event {
	switch b := e.Body.(type) {
	case recovery.Failed:
		b.Failure = bareFailure(b.Failure)
		e.Body = b
	case recovery.Suggested:
		b.Suggestion.Error = bareFailure(b.Suggestion.Error)
		e.Body = b
	}
	return e
}

func bareFailure(f failure.Failure) (bare failure.Failure) {
	from, to := reflect.ValueOf(f), reflect.ValueOf(&bare).Elem()
	for i := range from.NumField() {
		if to.Field(i).CanSet() {
			to.Field(i).Set(from.Field(i))
		}
	}
	return bare
}

func exported(r *recovery.Run) string {
	data, err := json.Marshal(r)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// note remembers what later rules need and the state does not have.
func (c *checker) note(e recovery.Event) {
	c.sleeps, c.cutShort = false, ""
	switch b := e.Body.(type) {
	case recovery.Claimed:
		c.claimedAt, c.asked = time.Now(), time.Now()
		if c.run.Owner != "" && c.run.Owner != b.Owner {
			c.taken++
		}
	case recovery.Began:
		c.began++
		c.by = c.run.Owner
		if c.again = b.Again; b.Again {
			c.cut = c.run.Answer()
		}
	case recovery.Answered:
		c.again, c.cut = false, ""
		c.noteAnswer(b)
	case recovery.Failed:
		c.noteFailure(e, b)
	case recovery.Voted:
		c.votes = append(c.votes, b.Vote)
	case recovery.Waiting:
		c.sleeps = b.Until.Sub(e.Time) > recovery.MaxInProcessWait.Duration()
	case recovery.Due:
		c.expired[b.Failure] = c.expired[b.Failure] || b.Timer == failure.TimerExpiry
	case recovery.ToolBegan:
		c.begun[b.CallID]++
	case recovery.ToolReturned:
		c.returned[b.CallID] = true
		c.crashes, c.asked = 0, time.Now() // calls that run beside the failed one finish first
	case recovery.Accepted:
		c.noteAnswered(b)
	case recovery.Compacting:
		c.summaries++
	case recovery.Compacted:
		c.usage = c.usage.Plus(b.Usage)
		c.accepted = c.accepted && b.Reason == "" // else the decision is offered again
	case recovery.CancelRequested:
		if c.cancelled.IsZero() {
			c.cancelled = time.Now()
		}
	case recovery.Ended:
		c.end = e.Seq
	}
}

func (c *checker) noteAnswer(b recovery.Answered) {
	c.usage = c.usage.Plus(b.Usage)
	c.began, c.granted, c.crashes = 0, 0, 0
	delete(c.cooling, b.Message.Model)
	c.calls = map[string]llm.ToolCall{}
	clear(c.begun)
	clear(c.returned)
	for _, call := range b.Message.Calls() {
		c.calls[call.ID] = call
	}
}

// noteAnswered remembers a person's answer. An answer that reruns a tool discards the tool's
// result.
func (c *checker) noteAnswered(b recovery.Accepted) {
	c.answered[b.Suggestion] = true
	c.accepted = true
	c.grants++
	c.granted++
	if c.run.Wait != nil || c.run.Suggestion == nil || c.run.Suggestion.ID != b.Suggestion || c.run.Open == nil {
		return
	}
	if button, _ := c.run.Suggestion.Button(b.Action); button.Kind == recovery.ButtonRerunTool {
		c.returned[c.run.Open.CallID] = false
		c.reruns[c.run.Open.CallID]++
	}
}

func (c *checker) noteFailure(e recovery.Event, b recovery.Failed) {
	c.usage = c.usage.Plus(b.Usage)
	c.asked, c.accepted, c.votes = time.Now(), false, nil
	if b.Failure.Variant == "cut_short" {
		c.cutShort = fmt.Sprintf("%s-a%d", e.Run, b.Attempt)
	}
	if b.Attempt != 0 {
		c.failed++
	}
	if c.again {
		c.began, c.again = 0, false
	}
	f := b.Failure
	if f.Kind == failure.KindInterrupted && b.Cause != recovery.CauseHandedOver {
		c.crashes++
	}
	if f.Timer == "" && (f.Kind == failure.KindRateLimit || f.Kind == failure.KindOverloaded) {
		until := e.Time.Add(max(leastCooldown, f.RetryAfter.Duration()))
		if f.ResetsAt.After(until) {
			until = f.ResetsAt
		}
		if until.After(c.cooling[f.Model]) {
			c.cooling[f.Model] = until
		}
	}
}

// leastCooldown is the minimum time for which a model is not used as an alternative after a rate
// limit or an overload.
const leastCooldown = 30 * time.Second

// check returns every invariant that the world violated.
func (w *world) check() []string {
	c := w.disk.checker
	if len(w.disk.events) > 0 {
		for _, rule := range endRules {
			rule(c)
		}
	}
	all := slices.Concat(c.wrong, w.screen.wrong, w.wrong)
	slices.Sort(all)
	return slices.Compact(all)
}
