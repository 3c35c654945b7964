package show

import (
	"fmt"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/internal/terminal"
	"github.com/mulligan-run/mulligan/recovery"
)

// Advice prints what to do about another program's failure: the decision and, if a person is to
// be asked, the buttons.
func (s *Screen) Advice(f failure.Failure, d recovery.Decision, offered *recovery.Suggestion) {
	at := d.Delay.Duration()
	s.Print(s.Ink.Bold(terminal.OneLine(f.Title)) + ". " + terminal.OneLine(f.Message))
	line := "Nobody has an opinion."
	switch d.Action {
	case recovery.ActionRetry:
		line = "Ask the same model again"
	case recovery.ActionSwitchModel:
		line = "Switch to " + terminal.OneLine(d.NewModel)
	case recovery.ActionFail:
		line = "Give up"
	case recovery.ActionNone:
	}
	if at > 0 {
		line += " in " + words.Duration(at)
	}
	if d.By != nil {
		line += s.Ink.Dim(" · " + terminal.OneLine(words.Tidy(d.By.Plugin+": "+d.Reason)))
	}
	s.Print(line)
	if d.BlockedBy != "" {
		s.Print(s.Ink.Dim("Not without asking: " + terminal.OneLine(recovery.LimitInWords(d.BlockedBy)) + "."))
	}
	if offered == nil {
		return
	}
	for i, b := range offered.Actions {
		s.Print(fmt.Sprintf("  %d) %s", i+1, terminal.OneLine(words.Localize(b.Label, offered.ResetsAt, time.Now()))))
	}
}
