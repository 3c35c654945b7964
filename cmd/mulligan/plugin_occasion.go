package main

import (
	"slices"

	"github.com/mulligan-run/mulligan/recovery"
)

// occasion is a failure of a recorded run that plugins were asked about, or would
// have been.
type occasion struct {
	run   *recovery.Run      // as it was when they were asked; only for reading
	votes []recovery.Vote    // what they said then
	then  *recovery.Decision // what was decided then; nil = the run's process did not live to do so
}

// occasions finds those of a run, in the order in which they came.
func occasions(events []recovery.Event) ([]occasion, error) {
	var found []occasion
	run, last := &recovery.Run{}, uint64(0)
	for i, e := range events {
		if err := run.Apply(e); err != nil {
			return nil, err
		}
		if run.Open == nil || run.Open.Seq == last || !asks(run) {
			continue
		}
		last = run.Open.Seq
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

// asks reports whether a runner now asks its plugins about the open failure or, where
// there are none to ask, decides without them.
func asks(run *recovery.Run) bool {
	if run.Open.Cause == recovery.CauseCooling { // which is nobody's to say
		return false
	}
	return slices.ContainsFunc(recovery.Next(run), func(e recovery.Effect) bool {
		_, decides := e.Record.(recovery.Decided)
		return e.Ask != nil || decides
	})
}

// recall looks up what came of it.
func (o *occasion) recall(later []recovery.Event) {
	failure := o.run.Open.Seq
	for _, e := range later {
		switch b := e.Body.(type) {
		case recovery.Voted:
			if b.Failure == failure {
				o.votes = append(o.votes, b.Vote)
			}
		case recovery.Decided:
			if b.Failure == failure {
				o.then = &b.Decision
				return
			}
		}
	}
}

// decide decides again with v in place of what its plugin said then. A plugin that
// the run did not have comes first.
func (o *occasion) decide(v recovery.Vote) recovery.Decision {
	run, open := *o.run, *o.run.Open
	run.Open = &open
	open.Votes = []recovery.Vote{v}
	for _, other := range o.votes {
		if other.Plugin != v.Plugin {
			open.Votes = append(open.Votes, other)
		}
	}
	if !slices.Contains(run.Policy.Plugins, v.Plugin) {
		run.Policy.Plugins = append([]string{v.Plugin}, run.Policy.Plugins...)
	}
	return recovery.Decide(&run)
}

// verdict compares what is decided now with what was then.
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
