package devtools

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/internal/exit"
	"github.com/mulligan-run/mulligan/internal/terminal"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/server"
	"github.com/mulligan-run/mulligan/show"
)

// Replay asks a plugin about the failures of one run after another, and prints the
// differences.
type Replay struct {
	*show.Screen
	Plugin string
	Beside []string // the other plugins of this configuration
	Named  bool     // a person chose the runs: all of them count
	JSON   bool
	Ask    func(context.Context, hooks.RunError) recovery.Vote
	own    verdicts
	others verdicts // of runs that had other plugins beside this one
}

// verdicts counts the results of failures.
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

// Run asks the plugin about every failure of one run, and prints how its answers
// differ.
func (r *Replay) Run(ctx context.Context, events []recovery.Event) error {
	list, err := occasions(events)
	if err != nil || len(list) == 0 {
		return err
	}
	into, others := &r.own, server.Without(list[0].run.Policy.Plugins, r.Plugin)
	foreign := !slices.Equal(others, r.Beside)
	if foreign {
		into = &r.others
	}
	into.runs++
	if !r.JSON {
		r.heading(list[0].run, foreign, others)
	}
	for _, o := range list {
		vote := r.Ask(ctx, hooks.NewRunError(o.run))
		if err := ctx.Err(); err != nil {
			return err
		}
		now := o.decide(vote)
		verdict := o.judge(vote, now)
		into.count(verdict)
		if !r.JSON {
			r.tell(&o, vote, now, verdict)
		} else if err := r.write(&o, vote, now, verdict, foreign); err != nil {
			return err
		}
	}
	return nil
}

func (r *Replay) heading(run *recovery.Run, foreign bool, others []string) {
	if r.own.runs+r.others.runs > 1 {
		r.Line("")
	}
	text := r.Ink.Bold("Run "+run.ID) + " · " + show.Stamp(run.StartedAt)
	if foreign {
		text += r.Ink.Amber(" · of another configuration, beside " + terminal.OneLine(cmp.Or(strings.Join(others, ", "), "no other plugin")))
	}
	r.Line(text)
}

// tell prints a failure as a diff: the decision then is removed, the decision now is
// added.
func (r *Replay) tell(o *occasion, v recovery.Vote, now recovery.Decision, verdict verdict) {
	open := o.run.Open
	r.Line("  " + terminal.OneLine(fmt.Sprintf("#%d %s · %s · attempt %d", open.Seq, cmp.Or(open.Failure.Model, o.run.Model), open.Failure.Kind, open.Attempt)))
	switch verdict {
	case verdictSame:
		r.Line(r.Ink.Dim("  = " + tellDecision(now)))
	case verdictDelay:
		r.Line(r.Ink.Dim(fmt.Sprintf("  ≈ %s; %d ms, then %d ms", tellDecision(now), now.Delay, o.then.Delay)))
	case verdictUndecided:
		r.Line(r.Ink.Amber("  + " + tellDecision(now) + ", then undecided"))
	default:
		if verdict == verdictUnanswered {
			r.Line(r.Ink.Red("  ! " + terminal.OneLine(r.Plugin) + " gave no answer: " + show.Excerpt(v.Error)))
		}
		if o.then != nil {
			r.Line(r.Ink.Red("  - " + tellDecision(*o.then)))
		}
		r.Line(r.Ink.Green("  + " + tellDecision(now)))
	}
	for _, ignored := range now.Ignored {
		r.Line(r.Ink.Amber("  ! ignored: " + show.Excerpt(ignored)))
	}
}

// tellDecision is a decision, by whom and why: "retry in 2 s, by mine (it is busy)".
func tellDecision(d recovery.Decision) string {
	text := show.TellAction(d.Action, d.NewModel, d.Delay)
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
	return show.Excerpt(text)
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

func (r *Replay) write(o *occasion, v recovery.Vote, now recovery.Decision, verdict verdict, foreign bool) error {
	open := o.run.Open
	return r.encode(replayLine{
		Run: o.run.ID, Failure: open.Seq, Model: cmp.Or(open.Failure.Model, o.run.Model), Kind: open.Failure.Kind, Code: open.Failure.Code,
		Attempt: open.Attempt, Verdict: verdict, Then: o.then, Now: now, Vote: v,
		OtherConfiguration: foreign,
	})
}

func (r *Replay) encode(line any) error {
	encoder := show.JSON(r.Out)
	return encoder.Encode(line)
}

// Conclude prints the totals; its exit code is that of a diff.
func (r *Replay) Conclude() error {
	if r.JSON {
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
	if r.own.unlike() || r.Named && r.others.unlike() {
		return &exit.Error{Code: exit.CodeFailed}
	}
	return nil
}

func (r *Replay) sums() {
	if r.own.runs+r.others.runs == 0 {
		r.Line("No failure was found.")
		return
	}
	r.Line("")
	if r.own.runs > 0 {
		r.Line(r.Ink.Bold(r.own.String() + "."))
	}
	if r.others.runs > 0 {
		r.Line(r.Ink.Bold("Of another configuration: " + r.others.String() + "."))
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
	text := show.Plural(total, "failure", "failures") + " of " + show.Plural(t.runs, "run", "runs") + ": "
	text += strconv.Itoa(t.counts[verdictSame]) + " the same, " + strconv.Itoa(t.counts[verdictDifferent]) + " different"
	for _, rest := range []struct {
		verdict verdict
		words   string
	}{{verdictDelay, "with another delay"}, {verdictUnanswered, "without an answer"}, {verdictUndecided, "undecided then"}} {
		if n := t.counts[rest.verdict]; n > 0 {
			text += ", " + strconv.Itoa(n) + " " + rest.words
		}
	}
	return text
}
