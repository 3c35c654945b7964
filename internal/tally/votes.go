package tally

import (
	"time"

	"github.com/mulligan-run/mulligan/recovery"
)

// Votes counts what happened to one plugin's votes about failures.
type Votes struct {
	Won       int64 // its vote was carried out
	Agreed    int64 // another plugin's vote was taken, which said the same
	Overruled int64 // something else was done
	Silent    int64 // it had no opinion
	Failed    int64 // it gave no answer, or an invalid one
	// For a plugin on trial, whose votes never count: whether its vote agreed with what was done.
	TrialAgreed, TrialDisagreed int64
}

// The names under which a plugin's votes are counted.
const (
	won, agreed, overruled, silent, broken = "won", "agreed", "overruled", "silent", "failed"
	trialAgreed, trialDisagreed            = "trial agreed", "trial disagreed"
)

// shadows are the votes on trial about one occasion of a run, and what was decided about it.
type shadows struct {
	about    recovery.Occasion
	votes    []recovery.Vote
	decision *recovery.Decision
}

// Votes are those of each plugin that was asked.
func (t *Tally) Votes(now time.Time) map[string]Votes {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := map[string]Votes{}
	for name, w := range t.plugins {
		n := w.sums(now)
		all[name] = Votes{
			Won: n[won], Agreed: n[agreed], Overruled: n[overruled], Silent: n[silent], Failed: n[broken],
			TrialAgreed: n[trialAgreed], TrialDisagreed: n[trialDisagreed],
		}
	}
	return all
}

// voted keeps a vote on trial until a decision, which may have been made before. Other votes
// are in the run by then. The caller holds mu.
func (t *Tally) voted(d *driven, at time.Time, b recovery.Voted) {
	if !b.Vote.Shadow || b.Occasion.Hook() != recovery.HookRunError {
		return
	}
	if d.shadows.about != b.Occasion {
		d.shadows = shadows{about: b.Occasion}
	}
	if d.shadows.decision != nil {
		t.tried(b.Vote, *d.shadows.decision, at)
		return
	}
	if len(d.shadows.votes) < most {
		d.shadows.votes = append(d.shadows.votes, b.Vote)
	}
}

// decided counts the votes about an occasion. The caller holds mu.
func (t *Tally) decided(d *driven, run *recovery.Run, at time.Time, b recovery.Decided) {
	o := run.Open
	if b.Occasion.Hook() != recovery.HookRunError || o == nil || o.Occasion() != b.Occasion {
		return
	}
	for _, v := range o.Votes {
		t.plugin(v.Plugin).add(became(v, b.Decision), at)
	}
	if d.shadows.about != b.Occasion {
		d.shadows = shadows{about: b.Occasion}
	}
	d.shadows.decision = &b.Decision
	for _, v := range d.shadows.votes {
		t.tried(v, b.Decision, at)
	}
	d.shadows.votes = nil
}

func became(v recovery.Vote, d recovery.Decision) string {
	switch {
	case v.Error != "":
		return broken
	case v.Action == recovery.ActionNone:
		return silent
	case d.By != nil && d.By.Plugin == v.Plugin:
		return won
	case same(v, d):
		return agreed
	}
	return overruled
}

func (t *Tally) tried(v recovery.Vote, d recovery.Decision, at time.Time) {
	what := trialDisagreed
	switch {
	case v.Error != "":
		what = broken
	case v.Action == recovery.ActionNone:
		what = silent
	case same(v, d):
		what = trialAgreed
	}
	t.plugin(v.Plugin).add(what, at)
}

// same reports whether a vote agrees with a decision, ignoring the delay.
func same(v recovery.Vote, d recovery.Decision) bool {
	return v.Action == d.Action && (v.Action != recovery.ActionSwitchModel || v.NewModel == d.NewModel)
}

// plugin returns a plugin's window, creating it if necessary. The caller holds mu.
func (t *Tally) plugin(name string) *window {
	w := t.plugins[name]
	if w == nil {
		if len(t.plugins) >= most {
			delete(t.plugins, oldest(t.plugins, func(w *window) time.Time { return w.last() }))
		}
		w = &window{}
		t.plugins[name] = w
	}
	return w
}
