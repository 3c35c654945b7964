package recovery

import (
	"fmt"
	"slices"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/failure/words"
)

// maxSwitches is how many alternatives a suggestion or a wait offers as buttons, at most.
const maxSwitches = 3

// offersByKind lists the actions per kind in display order (ui/copy.en.json); the first
// is primary unless a decision says otherwise.
var offersByKind = map[failure.Kind][]string{
	failure.KindTimeout:           {ButtonRetry, ButtonWaitLonger, ButtonSwitchModel},
	failure.KindUnreachable:       {ButtonRetry, ButtonSwitchModel},
	failure.KindTLS:               {ButtonCopyDetails, ButtonSwitchModel},
	failure.KindAuth:              {ButtonFixKey, ButtonRetry, ButtonSwitchModel},
	failure.KindBilling:           {ButtonAddCredit, ButtonSwitchModel, ButtonRetry},
	failure.KindRateLimit:         {ButtonResumeAt, ButtonSwitchModel, ButtonRetry},
	failure.KindQuota:             {ButtonResumeAt, ButtonSwitchModel, ButtonRetry},
	failure.KindOverloaded:        {ButtonSwitchModel, ButtonRetry},
	failure.KindUnavailable:       {ButtonSwitchModel, ButtonRetry},
	failure.KindStreamInterrupted: {ButtonRetry, ButtonSwitchModel},
	failure.KindMalformedResponse: {ButtonRetry, ButtonSwitchModel},
	failure.KindEmptyResponse:     {ButtonRetry, ButtonSwitchModel},
	failure.KindContextOverflow:   {ButtonCompact, ButtonLarger},
	failure.KindInvalidRequest:    {ButtonSwitchModel, ButtonCopyDetails},
	failure.KindContentFilter:     {ButtonEdit, ButtonSwitchModel},
	failure.KindModelNotFound:     {ButtonSwitchModel, ButtonChooseModel},
	failure.KindOutputTruncated:   {ButtonRetry, ButtonSwitchModel},
	failure.KindMisconfigured:     {ButtonCopyDetails, ButtonSwitchModel},
	failure.KindToolFailure:       {ButtonTellAgent, ButtonRerunTool},
	failure.KindStepTimeout:       {ButtonRetry, ButtonWaitLonger},
	failure.KindMaxTurnTime:       {ButtonExtend},
	failure.KindRunTimeout:        {ButtonExtend},
	failure.KindInterrupted:       {ButtonRetry},
	failure.KindPromptFailure:     {ButtonEdit},
	failure.KindInternal:          {ButtonCopyDetails, ButtonRetry},
	failure.KindBudget:            {ButtonResumeAt, ButtonExtend},
	failure.KindRoundLimit:        {ButtonExtend},
	failure.KindUnknown:           {ButtonRetry, ButtonSwitchModel},
}

// suggestionID names the suggestion about the open failure. An offer that is repeated, because the
// conversation could not be shortened or a plugin's own button was pressed, has another id: an
// answer to the first one does not count for it.
func (r *Run) suggestionID() string {
	id := fmt.Sprintf("%s-s%d", r.ID, r.Open.Seq)
	if r.Open.Compacted {
		id += "-again"
	}
	if r.Open.Presses > 0 {
		id += fmt.Sprintf("-%d", r.Open.Presses)
	}
	return id
}

// suggest makes the suggestion that offers the current decision.
func (r *Run) suggest() Suggestion {
	o, d := r.Open, r.proposal()
	f := o.Failure
	s := Suggestion{
		SuggestedAction: d.Action, NewModel: d.NewModel, Attempt: o.Attempt,
		ID: r.suggestionID(), ExpiresAt: r.Last.Add(r.Policy.SuggestionTTL.Duration()), // the failure may be long ago, because of a wait or a crash
		Title: f.Title, Message: r.tellForbidden(f.Message, failure.MaxMessage), Error: f, ResetsAt: r.resetsAt(d),
		BlockedBy: d.BlockedBy, DecidedBy: d.By, Tried: append([]Tried{}, r.Call.Tried...), Actions: []Button{},
	}
	if d.Delay > 0 {
		s.RetryAt = o.At.Add(d.Delay.Duration())
	}
	s.Actions = r.buttons(d, s.ResetsAt)
	s.Why = why(d, s.Actions)
	if d.BlockedBy != "" {
		s.Limit = LimitInWords(d.BlockedBy)
	}
	return s
}

// why is one line about the first action: who suggests it, and for what reason.
func why(d Decision, actions []Button) string {
	if d.By == nil || d.BlockedBy == blockedIdle || d.BlockedBy == blockedCompact || d.BlockedBy == blockedCompactions {
		return "" // nobody advised the first action
	}
	line := d.By.Plugin + " suggests to stop"
	if d.Action != ActionFail {
		line = d.By.Plugin + " suggests " + actions[0].Label
	}
	if reason := words.Tidy(d.By.Reason); reason != "" {
		line += ": " + reason
	}
	return words.Clip(line, MaxText)
}

// proposal is the current decision or, if nobody had an opinion, something safe: asking the same
// model again if that may help, otherwise the first action for such a failure. Its action is fail
// if there is none.
func (r *Run) proposal() Decision {
	d := *r.Open.Decision
	if d.Action != ActionNone {
		return d
	}
	d.Action = ActionFail
	var first Button
	for _, b := range r.safe(Decision{}, r.resetsAt(d)) {
		switches := first.Kind == ButtonSwitchModel || first.Kind == ButtonLarger
		if b.Effect == EffectRunner && (first.Kind == "" || switches && b.Kind == ButtonRetry && r.Open.Failure.Retryable) {
			first = b
		}
	}
	switch first.Kind {
	case "":
	case ButtonSwitchModel, ButtonLarger:
		d.Action, d.NewModel = ActionSwitchModel, first.Model
	case ButtonRunTool:
		d.Action = ActionApprove
	default:
		d.Action, d.Adjust.Compact = ActionRetry, first.Kind == ButtonCompact
	}
	return d
}

// resetsAt is when the cause of the failure will be over, if that is not soon; otherwise zero.
func (r *Run) resetsAt(d Decision) time.Time {
	f := r.Open.Failure
	if wait := max(d.Delay, f.RetryAfter); wait > MaxInProcessWait && f.ResetsAt.IsZero() {
		return r.Open.At.Add(wait.Duration())
	}
	return f.ResetsAt
}

// buttons lists what a person may do about the open failure, the suggested action first and Stop
// last; nil if there is no choice.
func (r *Run) buttons(d Decision, resetsAt time.Time) []Button {
	var list buttonList
	for _, b := range d.Actions {
		if b, ok := r.offerable(d, b); ok && b.own() {
			list.add(b)
		}
	}
	if d.Action == ActionFail && len(list) == 0 {
		return []Button{}
	}
	list = append(r.safe(d, resetsAt), list...)
	for _, b := range d.Actions {
		if b, ok := r.offerable(d, b); ok && !b.own() {
			list.add(b)
		}
	}
	if r.advises() {
		return ofCaller(list.inOrder(d))
	}
	return list.inOrder(d)
}

// safe lists what a person may do about such a failure, whatever was decided.
func (r *Run) safe(d Decision, resetsAt time.Time) buttonList {
	f := r.Open.Failure
	kinds, ok := offersByKind[f.Kind]
	if !ok {
		kinds = offersByKind[failure.KindUnknown]
	}
	if d.Action == ActionRetry && !d.Adjust.Compact && !r.Open.terminal() && !r.Open.isOfTool() && !slices.Contains(kinds, ButtonRetry) {
		kinds = append([]string{ButtonRetry}, kinds...)
	}
	if d.Action == ActionSwitchModel && !slices.Contains(kinds, ButtonSwitchModel) && !slices.Contains(kinds, ButtonLarger) {
		kinds = append([]string{ButtonSwitchModel}, kinds...)
	}
	switch r.Open.Cause {
	case CauseForbidden:
		kinds = []string{ButtonSwitchModel}
	case CauseApproval:
		kinds = []string{ButtonRunTool, ButtonRefuseTool}
	}
	var list buttonList
	for _, kind := range kinds {
		if r.forbids(r.Model) == "" || !asksAgain[kind] {
			r.addButton(&list, kind, resetsAt)
		}
	}
	return list
}

// asksAgain are the buttons that ask the same model once more.
var asksAgain = map[string]bool{ButtonRetry: true, ButtonResumeAt: true, ButtonWaitLonger: true, ButtonCompact: true}

// offerable gives an extra button of the decision as it may be offered, and whether it may be: a
// button offers nothing that the run may not do.
func (r *Run) offerable(d Decision, b Button) (Button, bool) {
	if b.URL != "" || !known[b.Kind] {
		by := ""
		if d.By != nil {
			by = d.By.Plugin
		}
		b, problem := b.made(by)
		return b, problem == "" && b.own() && (b.URL != "" || r.Open.Presses < maxPresses)
	}
	ok := r.forbids(r.Model) == "" || !asksAgain[b.Kind]
	switch b.Kind {
	case ButtonSwitchModel, ButtonLarger:
		ok = r.Open.offers(b.Model)
	case ButtonRetry, ButtonWaitLonger:
		ok = ok && !r.IdleBreaker() && !r.Open.terminal()
	case ButtonCompact:
		ok = ok && r.compactable()
	case ButtonRerunTool:
		ok = r.rerunnable()
	case ButtonExtend:
		ok = r.Open.extension() != ""
	case ButtonStop, ButtonRetryNow, ButtonCancelWait, ButtonRunTool, ButtonRefuseTool:
		ok = false // it is already offered, or belongs to a wait or an approval
	}
	b.ID, b.Primary, b.Effect, b.Plugin = "", false, "", ""
	return b, ok
}

// rerunnable reports whether the open failure asks a person about a tool call that can be made again:
// any but an engine's own.
func (r *Run) rerunnable() bool {
	asked := r.Open.Cause == CauseUnknownOutcome || r.Open.Cause == CauseToolAsked
	return asked && slices.ContainsFunc(r.Pending, func(t *ToolRun) bool {
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
		if o.Cause == CauseCooling {
			list.add(Button{Kind: kind, Label: "Ask it anyway"})
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
		list.add(Button{Kind: kind, Label: toolLabel(kind, o.Failure.Tool)})
		return
	case ButtonRunTool, ButtonRefuseTool:
		list.add(Button{Kind: kind, Label: toolLabel(kind, o.Failure.Tool)})
		return
	case ButtonResumeAt:
		if resetsAt.IsZero() {
			return
		}
		list.add(Button{Kind: kind, Label: "Continue at " + resetsAt.UTC().Format(words.UTCClock)})
		return
	case ButtonWaitLonger:
		if o.Failure.Timer == "" || r.IdleBreaker() {
			return
		}
		list.add(Button{Kind: kind, Label: "Wait " + words.Duration(o.Failure.Limit.Duration()) + " more"})
		return
	case ButtonExtend:
		if label := o.extension(); label != "" {
			list.add(Button{Kind: kind, Label: label})
		}
		return
	}
	list.add(Button{Kind: kind})
}

// extension says what the button that adds the expired limit once more does; "" if it was not a
// limit of the run that ended it.
func (o *OpenFailure) extension() string {
	switch o.Cause {
	case CauseClock:
		return "Continue for " + words.Duration(o.Failure.Limit.Duration()) + " more"
	case CauseBudget:
		return "Continue with a doubled budget"
	case CauseDayBudget:
		return "Continue over today's budget"
	case CauseRounds:
		return "Continue"
	case CauseAttempt, CauseCutShort, CauseHandedOver, CauseUnknownOutcome, CauseToolAsked, CauseCooling, CauseGivenUp, CauseForbidden, CauseApproval:
	}
	return ""
}

// addSwitches adds the alternatives as buttons, the decision's own model first.
func (r *Run) addSwitches(list *buttonList, kind string) {
	chosen := ""
	if d := r.Open.Decision; d != nil {
		chosen = d.NewModel
	}
	if chosen != "" {
		list.add(Button{Kind: kind, Model: chosen})
	}
	for i, a := range r.Open.Alternatives {
		if i == maxSwitches {
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
		if i < maxSwitches && a.Model != model {
			list.add(Button{Kind: ButtonSwitchModel, Model: a.Model})
		}
	}
	list.add(Button{Kind: ButtonCancelWait})
	number(list)
	return list
}
