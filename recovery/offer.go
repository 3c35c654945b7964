package recovery

import (
	"fmt"
	"slices"
	"time"
)

// MaxSwitches is how many alternatives a suggestion or a wait offers as buttons.
const MaxSwitches = 3

// offersByKind lists the actions per kind in display order (ui/copy.en.json); the first
// is primary unless a decision says otherwise.
var offersByKind = map[Kind][]string{
	KindTimeout:           {ButtonRetry, ButtonWaitLonger, ButtonSwitchModel},
	KindUnreachable:       {ButtonRetry, ButtonSwitchModel},
	KindTLS:               {ButtonCopyDetails, ButtonSwitchModel},
	KindAuth:              {ButtonFixKey, ButtonRetry, ButtonSwitchModel},
	KindBilling:           {ButtonAddCredit, ButtonSwitchModel, ButtonRetry},
	KindRateLimit:         {ButtonResumeAt, ButtonSwitchModel, ButtonRetry},
	KindQuota:             {ButtonResumeAt, ButtonSwitchModel, ButtonRetry},
	KindOverloaded:        {ButtonSwitchModel, ButtonRetry},
	KindUnavailable:       {ButtonSwitchModel, ButtonRetry},
	KindStreamInterrupted: {ButtonRetry, ButtonSwitchModel},
	KindMalformedResponse: {ButtonRetry, ButtonSwitchModel},
	KindEmptyResponse:     {ButtonRetry, ButtonSwitchModel},
	KindContextOverflow:   {ButtonCompact, ButtonLarger},
	KindInvalidRequest:    {ButtonSwitchModel, ButtonCopyDetails},
	KindContentFilter:     {ButtonEdit, ButtonSwitchModel},
	KindModelNotFound:     {ButtonSwitchModel, ButtonChooseModel},
	KindOutputTruncated:   {ButtonRetry, ButtonSwitchModel},
	KindMisconfigured:     {ButtonCopyDetails, ButtonSwitchModel},
	KindToolFailure:       {ButtonTellAgent, ButtonRerunTool},
	KindStepTimeout:       {ButtonRetry, ButtonWaitLonger},
	KindMaxTurnTime:       {ButtonExtend},
	KindRunTimeout:        {ButtonExtend},
	KindInterrupted:       {ButtonRetry},
	KindPromptFailure:     {ButtonEdit},
	KindInternal:          {ButtonCopyDetails, ButtonRetry},
	KindBudget:            {ButtonResumeAt, ButtonExtend},
	KindRoundLimit:        {ButtonExtend},
	KindUnknown:           {ButtonRetry, ButtonSwitchModel},
}

// suggestionID names the suggestion about the open failure. What is offered once more,
// after the conversation could not be shortened, is another suggestion: an answer to the
// first does not count for it.
func (r *Run) suggestionID() string {
	id := fmt.Sprintf("%s-s%d", r.ID, r.Open.Seq)
	if r.Open.Compacted {
		id += "-again"
	}
	return id
}

// suggest makes the suggestion that offers the decision at hand.
func (r *Run) suggest() Suggestion {
	o, d := r.Open, r.Open.Decision
	f := o.Failure
	s := Suggestion{
		SuggestedAction: d.Action, NewModel: d.NewModel, Attempt: o.Attempt,
		ID: r.suggestionID(), ExpiresAt: r.Last.Add(r.Policy.SuggestionTTL.Duration()), // the failure may be long ago: a wait, a crash
		Title: f.Title, Message: f.Message, Error: f, ResetsAt: f.ResetsAt,
		BlockedBy: d.BlockedBy, DecidedBy: d.By, Tried: append([]Tried{}, r.Call.Tried...), Actions: []Button{},
	}
	if d.Delay > 0 {
		s.RetryAt = o.At.Add(d.Delay.Duration())
	}
	if wait := max(d.Delay, f.RetryAfter); wait > MaxInProcessWait && s.ResetsAt.IsZero() {
		s.ResetsAt = o.At.Add(wait.Duration())
	}
	if d.Action != ActionFail {
		s.Actions = r.buttons(s.ResetsAt)
	}
	return s
}

// buttons lists what a person may do about the failure at hand.
func (r *Run) buttons(resetsAt time.Time) []Button {
	o, d := r.Open, r.Open.Decision
	kinds, ok := offersByKind[o.Failure.Kind]
	if !ok {
		kinds = offersByKind[KindUnknown]
	}
	if d.Action == ActionRetry && !d.Adjust.Compact && !o.terminal() && !o.told() && !slices.Contains(kinds, ButtonRetry) {
		kinds = append([]string{ButtonRetry}, kinds...)
	}
	if d.Action == ActionSwitchModel && !slices.Contains(kinds, ButtonSwitchModel) && !slices.Contains(kinds, ButtonLarger) {
		kinds = append([]string{ButtonSwitchModel}, kinds...)
	}
	var list buttonList
	for _, kind := range kinds {
		r.addButton(&list, kind, resetsAt)
	}
	for _, b := range d.Actions {
		if r.offerable(b) {
			b.ID, b.Primary = "", false
			list.add(b)
		}
	}
	list.add(Button{Kind: ButtonStop})
	list.prefer(d)
	return list
}

// offerable reports whether a plugin's extra button offers no more than the run may do.
func (r *Run) offerable(b Button) bool {
	switch b.Kind {
	case "":
		return false
	case ButtonSwitchModel, ButtonLarger:
		return r.Open.offers(b.Model)
	case ButtonRetry, ButtonWaitLonger:
		return !r.IdleBreaker()
	case ButtonCompact:
		return r.compactable()
	case ButtonRerunTool:
		return r.rerunnable()
	case ButtonExtend:
		return r.Open.extension() != ""
	}
	return true
}

// rerunnable reports whether the failure at hand is a call of unknown outcome that we made,
// and could make again.
func (r *Run) rerunnable() bool {
	return r.Open.Cause == CauseUnknownOutcome && slices.ContainsFunc(r.Pending, func(t *ToolRun) bool {
		return t.Call.ID == r.Open.CallID && t.By != ByEngine
	})
}

func (r *Run) addButton(list *buttonList, kind string, resetsAt time.Time) {
	o := r.Open
	switch kind {
	case ButtonSwitchModel, ButtonLarger:
		r.addSwitches(list, kind)
		return
	case ButtonRetry:
		if r.IdleBreaker() {
			return
		}
	case ButtonCompact:
		if !r.compactable() {
			return
		}
	case ButtonRerunTool:
		if !r.rerunnable() {
			return
		}
		list.add(Button{Kind: kind, Label: "Run " + o.Failure.Tool + " again"})
		return
	case ButtonResumeAt:
		if resetsAt.IsZero() {
			return
		}
		list.add(Button{Kind: kind, Label: "Continue at " + resetsAt.UTC().Format(utcClock)})
		return
	case ButtonWaitLonger:
		if o.Failure.Timer == "" || r.IdleBreaker() {
			return
		}
		list.add(Button{Kind: kind, Label: "Wait " + Spell(o.Failure.Limit.Duration()) + " more"})
		return
	case ButtonExtend:
		if label := o.extension(); label != "" {
			list.add(Button{Kind: kind, Label: label})
		}
		return
	}
	list.add(Button{Kind: kind})
}

// extension says what adding the limit that ended the run once more does, or "" where it
// was none of the run's.
func (o *OpenFailure) extension() string {
	switch o.Cause {
	case CauseClock:
		return "Continue for " + Spell(o.Failure.Limit.Duration()) + " more"
	case CauseBudget:
		return "Continue with a doubled budget"
	case CauseDayBudget:
		return "Continue over today's budget"
	case CauseRounds:
		return "Continue"
	}
	return ""
}

// addSwitches offers the alternatives, the decision's own first.
func (r *Run) addSwitches(list *buttonList, kind string) {
	chosen := r.Open.Decision.NewModel
	if chosen != "" {
		list.add(Button{Kind: kind, Model: chosen})
	}
	for i, a := range r.Open.Alternatives {
		if i == MaxSwitches {
			return
		}
		if a.Model != chosen {
			list.add(Button{Kind: kind, Model: a.Model})
		}
	}
}

// waitActions are the buttons of a live wait.
func waitActions(alternatives []Alternative, model string) []Button {
	var list buttonList
	list.add(Button{Kind: ButtonRetryNow, Primary: true})
	for i, a := range alternatives {
		if i < MaxSwitches && a.Model != model {
			list.add(Button{Kind: ButtonSwitchModel, Model: a.Model})
		}
	}
	list.add(Button{Kind: ButtonCancelWait})
	return list
}

type buttonList []Button

// add appends b with its id, and with its label and effect where they are missing.
func (l *buttonList) add(b Button) {
	if b.Label == "" {
		b.Label = Label(b.Kind, b.Model)
	}
	b.Effect = EffectOf(b.Kind)
	b.ID = fmt.Sprintf("a%d", len(*l)+1)
	*l = append(*l, b)
}

// prefer marks the primary action: the one that was decided, else the first.
func (l buttonList) prefer(d *Decision) {
	for i, b := range l {
		decided := d.Action == ActionRetry && !d.Adjust.Compact && b.Kind == ButtonRetry ||
			d.Action == ActionRetry && d.Adjust.Compact && b.Kind == ButtonCompact ||
			d.Action == ActionSwitchModel && (b.Kind == ButtonSwitchModel || b.Kind == ButtonLarger) && b.Model == d.NewModel
		if decided {
			l[i].Primary = true
			return
		}
	}
	l[0].Primary = true
}

// EffectOf says who carries out an action of that kind. A kind that this version
// does not know is the client's.
func EffectOf(kind string) string {
	switch kind {
	case ButtonRetry, ButtonSwitchModel, ButtonLarger, ButtonCompact, ButtonResumeAt, ButtonWaitLonger,
		ButtonExtend, ButtonTellAgent, ButtonRerunTool, ButtonStop, ButtonRetryNow, ButtonCancelWait:
		return EffectRunner
	}
	return EffectClient
}

// Label is the wording of an action (ui/copy.en.json).
func Label(kind, model string) string {
	switch kind {
	case ButtonSwitchModel, ButtonLarger:
		return "Switch to " + model
	case ButtonRetry:
		return "Retry"
	case ButtonCompact:
		return "Shorten and retry"
	case ButtonStop:
		return "Stop"
	case ButtonTellAgent:
		return "Let the agent adapt"
	case ButtonRerunTool:
		return "Run the tool again"
	case ButtonEdit:
		return "Edit message"
	case ButtonFixKey:
		return "Update key"
	case ButtonAddCredit:
		return "Add credit"
	case ButtonChooseModel:
		return "Choose a model"
	case ButtonCopyDetails:
		return "Copy details"
	case ButtonRetryNow:
		return "Retry now"
	case ButtonCancelWait:
		return "Cancel"
	case ButtonWaitLonger:
		return "Wait longer"
	case ButtonExtend:
		return "Continue longer"
	case ButtonResumeAt:
		return "Continue later"
	}
	return kind
}
