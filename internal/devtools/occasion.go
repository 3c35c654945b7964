package devtools

import (
	"slices"

	"github.com/mulligan-run/mulligan/recovery"
)

// occasion is a failure of a recorded run that plugins were asked about, or would
// have been.
type occasion struct {
	run   *recovery.Run      // as it was when they were asked; only for reading
	votes []recovery.Vote    // what they voted then
	then  *recovery.Decision // what was decided then; nil = the run's process died first
}

// occasions returns those of a run, in order.
func occasions(events []recovery.Event) ([]occasion, error) {
	var found []occasion
	run, last := &recovery.Run{}, recovery.Occasion("")
	for i, e := range events {
		if err := run.Apply(e); err != nil {
			return nil, err
		}
		if about := run.Occasion(); about == "" || about == last || run.Open.Presses > 0 || !asks(run) {
			continue
		}
		last = run.Occasion()
		then, err := recovery.Fold(events[:i+1])
		if err != nil {
			return nil, err
		}
		o := occasion{run: then}
		o.recall(events[i+1:])
		found = append(found, o)
	}
	return found, nil
}

// asks reports whether the current runner would ask its plugins about the open failure
// or, if there are none, decide without them.
func asks(run *recovery.Run) bool {
	if cause := run.Open.Cause; cause == recovery.CauseCooling || cause == recovery.CauseForbidden { // no plugin is asked about these
		return false
	}
	return slices.ContainsFunc(recovery.Next(run), func(e recovery.Effect) bool {
		_, decides := e.Record.(recovery.Decided)
		return e.Ask != nil || decides
	})
}

// recall looks up what was decided about it then.
func (o *occasion) recall(later []recovery.Event) {
	about := o.run.Occasion()
	for _, e := range later {
		switch b := e.Body.(type) {
		case recovery.Voted:
			if b.Occasion == about {
				o.votes = append(o.votes, b.Vote)
			}
		case recovery.Decided:
			if b.Occasion == about {
				o.then = &b.Decision
				return
			}
		}
	}
}

// decide decides again, with v in place of what its plugin voted then. A plugin that
// the run did not have votes first.
func (o *occasion) decide(v recovery.Vote) recovery.Decision {
	run := o.run.Clone()
	about := run.Occasion()
	if !slices.Contains(run.Policy.Plugins, v.Plugin) {
		run.Policy.Plugins = append([]string{v.Plugin}, run.Policy.Plugins...)
	}
	votes := []recovery.Vote{v}
	for _, other := range o.votes {
		if other.Plugin != v.Plugin {
			votes = append(votes, other)
		}
	}
	for _, vote := range votes { // each is the next event of this run, which Apply takes
		_ = run.Apply(recovery.Event{Run: run.ID, Seq: run.Seq + 1, Time: run.Last, Body: recovery.Voted{Occasion: about, Vote: vote}})
	}
	return recovery.Decide(run)
}

// verdict compares the decision now with the one then.
type verdict string

const (
	verdictSame       verdict = "same"
	verdictDelay      verdict = "delay"      // the same, after another delay
	verdictDifferent  verdict = "different"  //
	verdictUnanswered verdict = "unanswered" // the plugin gave no answer
	verdictUndecided  verdict = "undecided"  // nothing was decided then
)

func (o *occasion) judge(v recovery.Vote, now recovery.Decision) verdict {
	switch {
	case v.Error != "":
		return verdictUnanswered
	case o.then == nil:
		return verdictUndecided
	case o.then.Action != now.Action, o.then.NewModel != now.NewModel, o.then.BlockedBy != now.BlockedBy, o.then.Adjust != now.Adjust:
		return verdictDifferent
	case o.then.Delay != now.Delay:
		return verdictDelay
	}
	return verdictSame
}
