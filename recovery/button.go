package recovery

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/failure/words"
)

// Bounds of a plugin's own button, in bytes.
const (
	maxButtonURL  = 2 << 10
	maxButtonKind = 100
)

type buttonList []Button

// add appends b, and fills in its label and effect if they are missing.
func (l *buttonList) add(b Button) {
	if b.Label == "" {
		b.Label = Label(b.Kind, b.Model)
	}
	if b.Effect == "" {
		b.Effect = EffectOf(b.Kind)
	}
	*l = append(*l, b)
}

// inOrder is the list with the suggested action first, marked as primary, and Stop last. The ids
// follow this order.
func (l buttonList) inOrder(d Decision) []Button {
	l.add(Button{Kind: ButtonStop})
	first := slices.IndexFunc(l, d.isOf)
	if first < 0 {
		first = slices.IndexFunc(l, func(b Button) bool { return b.Effect == EffectRunner })
	}
	suggested := l[first]
	suggested.Primary = true
	l = slices.Insert(slices.Delete(l, first, first+1), 0, suggested)
	number(l)
	return l
}

// number gives the buttons their ids.
func number(buttons []Button) {
	for i := range buttons {
		buttons[i].ID = fmt.Sprintf("a%d", i+1)
	}
}

// isOf reports whether the button does what the decision says.
func (d Decision) isOf(b Button) bool {
	switch d.Action {
	case ActionRetry:
		switch b.Kind {
		case ButtonCompact:
			return d.Adjust.Compact
		case ButtonResumeAt: // not if the run's time would be over by then
			return d.BlockedBy != string(failure.TimerRun) && d.BlockedBy != string(failure.TimerMaxTurn)
		case ButtonExtend, ButtonTellAgent:
			return true
		case ButtonRetry:
			return !d.Adjust.Compact
		}
	case ActionSwitchModel:
		return (b.Kind == ButtonSwitchModel || b.Kind == ButtonLarger) && b.Model == d.NewModel
	case ActionFail:
		return b.own()
	}
	return false
}

// own reports whether a plugin invented the button: it has a URL, or its press is reported to the
// plugin.
func (b Button) own() bool { return b.URL != "" || b.Plugin != "" }

// known are the kinds of buttons that have a meaning in this version.
var known = map[string]bool{
	ButtonRetry: true, ButtonSwitchModel: true, ButtonLarger: true, ButtonCompact: true, ButtonResumeAt: true,
	ButtonWaitLonger: true, ButtonExtend: true, ButtonTellAgent: true, ButtonRerunTool: true, ButtonRunTool: true, ButtonRefuseTool: true, ButtonStop: true,
	ButtonEdit: true, ButtonFixKey: true, ButtonAddCredit: true, ButtonChooseModel: true, ButtonCopyDetails: true,
	ButtonRetryNow: true, ButtonCancelWait: true,
}

// made checks a button that a plugin invented. It gives the button as it may be offered, or the
// reason why it may not be.
func (b Button) made(plugin string) (Button, string) {
	b.ID, b.Primary, b.Effect, b.Model, b.Plugin = "", false, EffectRunner, "", plugin
	switch {
	case len(b.Kind) > maxButtonKind || !utf8.ValidString(b.Kind) || !utf8.ValidString(b.Label):
		return Button{}, "a button's kind is too long, or no UTF-8"
	case b.Kind == "" && b.URL == "":
		return Button{}, "a button has neither a kind nor a URL"
	case b.URL == "":
		return b, ""
	}
	if !webAddress(b.URL) {
		return Button{}, fmt.Sprintf("the URL of button %q is none that a person can be sent to", words.Clip(b.Label, 40))
	}
	b.Effect, b.Plugin = EffectClient, ""
	if known[b.Kind] || b.Kind == "" {
		b.Kind = ButtonOpen
	}
	return b, ""
}

// webAddress reports whether it is safe to send a person to that address: http or https, with a
// host, and without a user name before it that could be mistaken for the host.
func webAddress(address string) bool {
	rest, ok := strings.CutPrefix(address, "https://")
	if !ok {
		rest, ok = strings.CutPrefix(address, "http://")
	}
	host, _, _ := strings.Cut(rest, "/")
	host, _, _ = strings.Cut(host, "?")
	odd := func(r rune) bool {
		return r <= ' ' || r == 0x7f || r == '\\' || r == '"' || r == '<' || r == '>' || r == utf8.RuneError
	}
	return ok && len(address) <= maxButtonURL && host != "" && !strings.Contains(host, "@") && strings.IndexFunc(address, odd) < 0
}

// EffectOf says who carries out an action of that kind. The client carries out kinds that this
// version does not know.
func EffectOf(kind string) string {
	switch kind {
	case ButtonRetry, ButtonSwitchModel, ButtonLarger, ButtonCompact, ButtonResumeAt, ButtonWaitLonger,
		ButtonExtend, ButtonTellAgent, ButtonRerunTool, ButtonRunTool, ButtonRefuseTool, ButtonStop, ButtonRetryNow, ButtonCancelWait:
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
	case ButtonRunTool:
		return "Run the tool"
	case ButtonRefuseTool:
		return "Do not run the tool"
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
