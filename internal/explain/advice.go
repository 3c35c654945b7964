package explain

import (
	"strconv"
	"strings"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/plugins/autorecover"
	"github.com/mulligan-run/mulligan/recovery"
)

// otherModel stands for a fallback that has not failed.
const otherModel = "fallback/another-model"

// treatment is what happens after a run's first failure: auto-recover's decision
// within the runner's limits, and what a person is offered if nobody acts.
type treatment struct {
	recovery.Decision
	offered []recovery.Button
}

// treat puts f as the first failure into the events of a run that recovers automatically,
// and asks auto-recover and package recovery what follows. It leaves out the jitter, so
// that the answer is always the same.
func treat(f failure.Failure, at time.Time, alternatives ...recovery.Alternative) (treatment, error) {
	policy := recovery.DefaultPolicy()
	policy.AutoRecover, policy.Plugins = true, []string{autorecover.Name}
	r := &recovery.Run{}
	var err error
	tell := func(b recovery.Body) {
		if err == nil {
			err = r.Apply(recovery.Event{Run: "explained", Seq: r.Seq + 1, Time: at, Body: b})
		}
	}
	tell(recovery.Started{Model: f.Model, Policy: policy, Input: someTalk()})
	tell(recovery.Began{Attempt: 1, Round: 1, Model: f.Model})
	tell(recovery.Failed{Attempt: 1, Failure: f, Alternatives: alternatives})
	if err != nil {
		return treatment{}, err
	}
	vote := autorecover.Decide(autorecover.DefaultConfig(), autorecover.InputOf(hooks.NewRunError(r), at), 0)
	vote.Plugin = autorecover.Name
	tell(recovery.Voted{Occasion: r.Occasion(), Vote: vote})
	t := treatment{Decision: recovery.Decide(r)}
	tell(recovery.Decided{Occasion: r.Occasion(), Decision: t.Decision})
	for _, effect := range recovery.Next(r) {
		if suggested, ok := effect.Record.(recovery.Suggested); ok {
			t.offered = suggested.Suggestion.Actions
		}
	}
	return t, err
}

// someTalk is a conversation that can be shortened, as one that is too long usually can.
func someTalk() []llm.Message {
	var talk []llm.Message
	for range 4 {
		talk = append(talk, llm.User("A question."), llm.Message{Role: llm.RoleAssistant, Parts: []llm.Part{{Text: "An answer."}}})
	}
	return append(talk, llm.User("A question."))
}

// String says it as an instruction.
func (t treatment) String() string {
	switch {
	case (t.BlockedBy != "" || t.Action == recovery.ActionNone) && t.labels() != "":
		return "stop, and offer: " + t.labels()
	case t.Action == recovery.ActionRetry && t.Adjust.Compact:
		return t.pause() + "shorten the conversation and retry"
	case t.Action == recovery.ActionRetry:
		return t.pause() + "retry" + t.adjusted()
	case t.Action == recovery.ActionSwitchModel:
		return t.pause() + "switch to it"
	}
	return "stop"
}

func (t treatment) pause() string {
	switch {
	case t.Delay == 0:
		return ""
	case t.Delay > recovery.MaxInProcessWait:
		return "park the run for " + words.Duration(t.Delay.Duration()) + ", then "
	}
	return "wait " + words.Duration(t.Delay.Duration()) + ", then "
}

func (t treatment) adjusted() string {
	if t.Adjust.MaxOutputTokens > 0 {
		return " with an output limit of " + strconv.Itoa(t.Adjust.MaxOutputTokens) + " tokens"
	}
	return ""
}

// labels are the buttons, except the one that every suggestion has.
func (t treatment) labels() string {
	var labels []string
	for _, b := range t.offered {
		if b.Kind != recovery.ButtonStop {
			labels = append(labels, b.Label)
		}
	}
	return strings.Join(labels, ", ")
}
