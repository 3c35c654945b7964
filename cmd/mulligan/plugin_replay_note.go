package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/recovery"
)

// replay asks a plugin about one run after the other, and prints what comes of it.
type replay struct {
	*screen
	plugin string
	beside []string // the other plugins of this configuration
	named  bool     // the runs were chosen by a person: all of them count
	json   bool
	ask    func(context.Context, hooks.RunError) recovery.Vote
	own    verdicts
	others verdicts // of runs that had other plugins beside this one
}

// verdicts counts what came of failures.
type verdicts struct {
	runs   int
	counts map[verdict]int
}

func (t *verdicts) count(v verdict) {
	if t.counts == nil {
		t.counts = map[verdict]int{}
	}
	t.counts[v]++
}

func (r *replay) run(ctx context.Context, events []recovery.Event) error {
	list, err := occasions(events)
	if err != nil || len(list) == 0 {
		return err
	}
	into, others := &r.own, without(list[0].run.Policy.Plugins, r.plugin)
	foreign := !slices.Equal(others, r.beside)
	if foreign {
		into = &r.others
	}
	into.runs++
	if !r.json {
		r.heading(list[0].run, foreign, others)
	}
	for _, o := range list {
		vote := r.ask(ctx, hooks.NewRunError(o.run))
		if err := ctx.Err(); err != nil {
			return err
		}
		now := o.decide(vote)
		verdict := o.judge(vote, now)
		into.count(verdict)
		if !r.json {
			r.tell(&o, vote, now, verdict)
		} else if err := r.write(&o, vote, now, verdict, foreign); err != nil {
			return err
		}
	}
	return nil
}

func (r *replay) heading(run *recovery.Run, foreign bool, others []string) {
	if r.own.runs+r.others.runs > 1 {
		r.line("")
	}
	text := r.ink.bold("Run "+run.ID) + " · " + stamp(run.StartedAt)
	if foreign {
		text += r.ink.amber(" · of another configuration, beside " + oneLine(orElse(strings.Join(others, ", "), "no other plugin")))
	}
	r.line(text)
}

// tell prints a failure as a diff: what was decided is taken out, what is decided
// now is put in.
func (r *replay) tell(o *occasion, v recovery.Vote, now recovery.Decision, verdict verdict) {
	open := o.run.Open
	r.line("  " + oneLine(fmt.Sprintf("#%d %s · %s · attempt %d", open.Seq, orElse(open.Failure.Model, o.run.Model), open.Failure.Kind, open.Attempt)))
	switch verdict {
	case verdictSame:
		r.line(r.ink.dim("  = " + tellDecision(now)))
	case verdictDelay:
		r.line(r.ink.dim(fmt.Sprintf("  ≈ %s; %d ms, then %d ms", tellDecision(now), now.Delay, o.then.Delay)))
	case verdictUndecided:
		r.line(r.ink.amber("  + " + tellDecision(now) + ", then undecided"))
	default:
		if verdict == verdictUnanswered {
			r.line(r.ink.red("  ! " + oneLine(r.plugin) + " gave no answer: " + excerpt(v.Error)))
		}
		if o.then != nil {
			r.line(r.ink.red("  - " + tellDecision(*o.then)))
		}
		r.line(r.ink.green("  + " + tellDecision(now)))
	}
	for _, ignored := range now.Ignored {
		r.line(r.ink.amber("  ! ignored: " + excerpt(ignored)))
	}
}

// tellDecision is a decision, by whom and why: "retry in 2 s, by mine (it is busy)".
func tellDecision(d recovery.Decision) string {
	text := tellAction(d.Action, d.NewModel, d.Delay)
	if d.Action == recovery.ActionNone {
		text = "nothing: no plugin has an opinion"
	}
	if d.By != nil {
		text += ", by " + d.By.Plugin
	}
	if d.Reason != "" {
		text += " (" + d.Reason + ")"
	}
	if d.BlockedBy != "" {
		text += "; only offered, because " + recovery.LimitInWords(d.BlockedBy)
	}
	return excerpt(text)
}

// replayLine is a failure in --json output.
type replayLine struct {
	Run     string             `json:"run"`
	Failure uint64             `json:"failure"` // seq of its event
	Model   string             `json:"model"`
	Kind    failure.Kind       `json:"kind"`
	Code    failure.Code       `json:"code"`
	Attempt int                `json:"attempt"` // within its model call, from 0
	Verdict verdict            `json:"verdict"`
	Then    *recovery.Decision `json:"then"`
	Now     recovery.Decision  `json:"now"`
	Vote    recovery.Vote      `json:"vote"`

	OtherConfiguration bool `json:"otherConfiguration,omitempty"` // the run had other plugins beside this one
}

func (r *replay) write(o *occasion, v recovery.Vote, now recovery.Decision, verdict verdict, foreign bool) error {
	open := o.run.Open
	return r.encode(replayLine{
		Run: o.run.ID, Failure: open.Seq, Model: orElse(open.Failure.Model, o.run.Model), Kind: open.Failure.Kind, Code: open.Failure.Code,
		Attempt: open.Attempt, Verdict: verdict, Then: o.then, Now: now, Vote: v,
		OtherConfiguration: foreign,
	})
}

func (r *replay) encode(line any) error {
	encoder := jsonTo(r.out)
	return encoder.Encode(line)
}

// conclude prints the sums; the exit code is that of a diff.
func (r *replay) conclude() error {
	if r.json {
		sums := r.own.sums()
		if r.others.runs > 0 {
			sums["otherConfiguration"] = r.others.sums()
		}
		if err := r.encode(map[string]any{"summary": sums}); err != nil {
			return err
		}
	} else {
		r.sums()
	}
	if r.own.unlike() || r.named && r.others.unlike() {
		return &exitError{code: exitFailed}
	}
	return nil
}

func (r *replay) sums() {
	if r.own.runs+r.others.runs == 0 {
		r.line("No failure was found.")
		return
	}
	r.line("")
	if r.own.runs > 0 {
		r.line(r.ink.bold(r.own.String() + "."))
	}
	if r.others.runs > 0 {
		r.line(r.ink.bold("Of another configuration: " + r.others.String() + "."))
	}
}

func (t *verdicts) unlike() bool { return t.counts[verdictDifferent]+t.counts[verdictUnanswered] > 0 }

func (t *verdicts) sums() map[string]any {
	sums := map[string]any{"runs": t.runs}
	for _, v := range []verdict{verdictSame, verdictDelay, verdictDifferent, verdictUnanswered, verdictUndecided} {
		sums[string(v)] = t.counts[v]
	}
	return sums
}

// String is the tally in words: "2 failures of 1 run: 2 the same, 0 different".
func (t *verdicts) String() string {
	total := 0
	for _, n := range t.counts {
		total += n
	}
	text := plural(total, "failure", "failures") + " of " + plural(t.runs, "run", "runs") + ": "
	text += itoa(t.counts[verdictSame]) + " the same, " + itoa(t.counts[verdictDifferent]) + " different"
	for _, rest := range []struct {
		verdict verdict
		words   string
	}{{verdictDelay, "with another delay"}, {verdictUnanswered, "without an answer"}, {verdictUndecided, "undecided then"}} {
		if n := t.counts[rest.verdict]; n > 0 {
			text += ", " + itoa(n) + " " + rest.words
		}
	}
	return text
}
