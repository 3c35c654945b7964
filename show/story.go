package show

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/internal/terminal"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/recovery/rescue"
)

// story tells a run that is in the timeline, from its events.
type story struct {
	*Screen
	run    *recovery.Run
	start  time.Time
	rescue *rescue.Builder
}

// Tell prints the story of a run on stdout.
func (s *Screen) Tell(events []recovery.Event) error {
	// A story is one text: all of it goes to stdout.
	told := &story{Screen: s.OnStdout(), run: &recovery.Run{}, rescue: rescue.NewBuilder()}
	for _, e := range events {
		if told.run.Seq == 0 {
			told.start = e.Time
		}
		if err := errors.Join(told.run.Apply(e), told.rescue.Add(e)); err != nil {
			return err
		}
		told.event(e)
	}
	told.ending()
	return nil
}

// at prints a line with the time since the run began.
func (s *story) at(e recovery.Event, text string) {
	since := e.Time.Sub(s.start).Seconds()
	s.Line(s.Ink.Dim(fmt.Sprintf("%8.2f s  ", since)) + strings.TrimLeft(Indent(s.fitted(text), besides), " "))
}

func (s *story) under(text string) { s.Line(Indent(s.fitted(text), besides)) }

const besides = "            " // as wide as the time

// fitted is a text in lines of a terminal, which would break them within words. A pipe's are left whole.
func (s *story) fitted(text string) string {
	if !s.LiveOut {
		return text
	}
	return ansi.Wrap(text, s.width-len(besides), "")
}

func (s *story) event(e recovery.Event) {
	switch b := e.Body.(type) {
	case recovery.Started:
		s.started(e, b)
	case recovery.Claimed:
		if e.Seq > 2 {
			s.at(e, "Claimed by "+terminal.OneLine(b.Owner)+": the run goes on")
		}
	case recovery.Began:
		s.began(e, b)
	case recovery.Answered:
		s.answered(e, b)
	case recovery.Failed:
		s.failed(e, b)
	case recovery.Voted:
		s.voted(e, b.Vote)
	case recovery.Decided:
		s.decided(e, b.Decision)
	case recovery.Waiting:
		s.waiting(e, b)
	case recovery.Due:
		switch b.Timer {
		case failure.TimerWait:
		case failure.TimerNetwork:
			s.at(e, "The network is back")
		default:
			s.at(e, terminal.OneLine("Timer "+string(b.Timer)+" is due"))
		}
	case recovery.ToolBegan:
		s.at(e, fmt.Sprintf("Tool %s begins%s%s", s.Ink.Bold(terminal.OneLine(b.Name)), again(b.Try), byItself(b.By)))
	case recovery.ToolReturned:
		s.at(e, fmt.Sprintf("Tool %s: %s after %s", terminal.OneLine(b.Result.Name), terminal.OneLine(string(b.Outcome)), words.Duration(b.Elapsed.Duration())))
		s.under(s.Ink.Dim(Excerpt(b.Result.Text)))
	case recovery.Accepted:
		s.at(e, s.Ink.Cyan("A person chose "+terminal.OneLine(b.Action+" "+b.Model)))
	case recovery.Suggested:
		if b.Suggestion.AsksApproval() {
			s.at(e, s.Ink.Amber(terminal.OneLine("Needs approval: "+b.Suggestion.Error.Line())))
			return
		}
		s.at(e, s.Ink.Amber(terminal.OneLine("Suggestion "+b.Suggestion.ID+": "+TellAction(b.Suggestion.SuggestedAction, b.Suggestion.NewModel, 0))))
	case recovery.Noted:
		if b.Topic != recovery.TopicText {
			s.at(e, terminal.OneLine(recovery.LocalText(s.run, e, time.Now())))
		}
	case recovery.Ended:
		s.at(e, s.Ink.Bold(terminal.OneLine("Ended: "+string(b.Status)+stopReason(b))))
	default:
		s.at(e, terminal.OneLine(cmp.Or(recovery.LocalText(s.run, e, time.Now()), strings.ReplaceAll(e.Type(), "_", " "))))
	}
}

func (s *story) started(e recovery.Event, b recovery.Started) {
	s.Line(s.Ink.Bold("Run " + e.Run))
	s.Line(fmt.Sprintf("started %s · model %s · auto-recover %s", Stamp(e.Time), terminal.OneLine(b.Model), OnOff(b.Policy.AutoRecover)))
	others := slices.DeleteFunc(slices.Clone(b.Policy.Models), func(model string) bool { return model == b.Model })
	if len(others) > 0 {
		s.Line("may switch to " + terminal.OneLine(strings.Join(others, ", ")))
	}
	if b.Stays != nil {
		s.Line(terminal.OneLine(recovery.LocalText(s.run, e, time.Now())))
	}
	s.Line("plugins " + terminal.OneLine(cmp.Or(strings.Join(b.Policy.Plugins, ", "), "none")))
	if len(b.Labels) > 0 {
		s.Line("labels  " + terminal.OneLine(b.Labels.String()))
	}
	for _, m := range b.Input {
		if m.Role == llm.RoleUser {
			s.Line("prompt  " + Excerpt(m.Text()))
		}
	}
	s.Line("")
}

func (s *story) began(e recovery.Event, b recovery.Began) {
	text := fmt.Sprintf("Attempt %d: asks %s", b.Attempt, s.Ink.Bold(terminal.OneLine(b.Model)))
	if b.Try > 0 {
		text += fmt.Sprintf(" (try %d of this call)", b.Try+1)
	}
	if b.Again {
		text += fmt.Sprintf(" once more, with an output limit of %d tokens", b.Adjust.MaxOutputTokens)
	}
	if b.Continues != 0 {
		text += fmt.Sprintf("; it goes on from the text of attempt %d", b.Continues)
	}
	if b.Withdraws != 0 {
		text += fmt.Sprintf("; the text of attempt %d is discarded", b.Withdraws)
	}
	s.at(e, text)
}

func (s *story) answered(e recovery.Event, b recovery.Answered) {
	text := fmt.Sprintf("Attempt %d answered", b.Attempt)
	if b.FirstEvent > 0 {
		text += ", first event after " + words.Duration(b.FirstEvent.Duration())
	}
	s.at(e, s.Ink.Green(fmt.Sprintf("%s (%d tokens)", text, b.Usage.Total())))
	if b.CacheLost > 0 {
		s.under(s.Ink.Amber(words.Counted(b.CacheLost, " tokens") + " of a prompt cache were lost"))
	}
	if b.Stop == llm.StopLength {
		s.under(s.Ink.Amber(CutText))
	}
	if said := b.Message.Text(); said != "" {
		s.under(Excerpt(said))
	}
	for _, c := range b.Message.Calls() {
		s.under("calls " + terminal.OneLine(c.Name+" "+string(c.Args)))
	}
}

func (s *story) failed(e recovery.Event, b recovery.Failed) {
	f := b.Failure
	s.at(e, s.Ink.Red(terminal.OneLine(f.LocalLine(time.Now()))))
	facts := []string{string(f.Code), "kind " + string(f.Kind), "phase " + string(f.Phase)}
	if f.Row != "" {
		facts = append(facts, "classified by "+terminal.OneLine(f.Row))
	}
	if f.HTTPStatus != 0 {
		facts = append(facts, fmt.Sprintf("HTTP %d", f.HTTPStatus))
	}
	if f.Timer != "" {
		facts = append(facts, "timer "+string(f.Timer))
	}
	if f.RequestID != "" {
		facts = append(facts, "request "+f.RequestID)
	}
	s.under(s.Ink.Dim(terminal.OneLine(strings.Join(facts, " · "))))
	if f.Detail != "" {
		s.under(s.Ink.Dim(Excerpt(f.Detail)))
	}
	s.headers(b.Headers)
	if a := s.run.Attempt; a != nil && a.ID == b.Attempt && a.Text != "" {
		s.under(s.Ink.Dim("partial text: " + Excerpt(a.Text)))
	}
	for _, c := range b.Cooling {
		s.under(s.Ink.Dim(fmt.Sprintf("%s cools down until %s (%s)", terminal.OneLine(c.Model), words.Clock(c.Until, time.Now()), c.Kind)))
	}
}

func (s *story) voted(e recovery.Event, v recovery.Vote) {
	if v.Shadow {
		s.at(e, s.Ink.Dim(tellShadow(v)))
		return
	}
	if v.Error != "" {
		s.at(e, s.Ink.Amber(fmt.Sprintf("Plugin %s gave no answer (%d ms): %s", terminal.OneLine(v.Plugin), v.Latency, complaint(v.Error, 300))))
		return
	}
	s.at(e, s.Ink.Cyan("P"+tellVote(v)[1:]))
}

func (s *story) decided(e recovery.Event, d recovery.Decision) {
	text := "Decided: " + TellAction(d.Action, d.NewModel, d.Delay)
	if d.By != nil {
		text += ", by " + d.By.Plugin
	}
	if d.BlockedBy != "" {
		text += "; only offered, because " + recovery.LimitInWords(d.BlockedBy)
	}
	s.at(e, terminal.OneLine(text))
	if d.Words != "" {
		s.under(s.Ink.Dim(Excerpt(d.Words)))
	}
	for _, ignored := range d.Ignored {
		s.under(s.Ink.Dim("ignored: " + terminal.OneLine(ignored)))
	}
}

// ending prints the state of the run.
func (s *story) ending() {
	r := s.run
	s.Line("")
	s.waterfall(s.rescue.Rescue(time.Now()))
	s.Line("")
	status := string(r.Status)
	if r.AsksApproval() {
		status = needsApproval
	}
	s.Line(fmt.Sprintf("%s: %s, %s", s.Ink.Bold(status), Plural(int(r.Attempts), "request", "requests"),
		Plural(r.FailedAttempts, "failed attempt", "failed attempts")))
	s.Line(usageLine(r))
	if text := r.Answer(); text != "" {
		label := "answer"
		if r.Attempt != nil && r.Attempt.Text != "" {
			label = "partial answer"
		}
		s.Line(label + ":")
		s.Line(Indent(terminal.Printable(text, true), "  "))
		if r.Truncated() {
			s.Line(s.Ink.Amber("! " + CutText))
		}
	}
	switch {
	case r.SuggestionOpen() && r.OpenSuggestion(time.Now()) == nil:
		s.Line("This suggestion has expired. Send your message again.")
	case r.SuggestionOpen():
		s.offer(suggestionError(r), r)
	case r.End == nil && r.Status != recovery.StatusFailed:
		if r.Wait != nil {
			now := time.Now()
			seen := r.Situation()
			at := seen.At(now, recovery.HeardNothing)
			s.Line(terminal.OneLine(at.Said(at.Line, now)))
		}
		s.Line("If nobody drives it: " + s.Hint("runs resume "+r.ID))
	}
}

// CutText says that an answer is incomplete.
const CutText = "The answer was cut at the output limit."

// WaitWord says what a wait is for, after its time: " for the rate limit to pass".
func WaitWord(w recovery.WaitFor) string {
	switch w {
	case recovery.WaitTime:
		return ""
	case recovery.WaitReset:
		return " for the provider's reset"
	case recovery.WaitCaller:
		return " for its caller"
	case recovery.WaitTool:
		return " for a tool of its caller's"
	case recovery.WaitNetwork, recovery.WaitStore:
	}
	return " for the " + terminal.OneLine(string(w))
}

func (s *story) waiting(e recovery.Event, b recovery.Waiting) {
	if b.For == recovery.WaitNetwork {
		s.at(e, "This computer is offline: waits for the network, then asks "+terminal.OneLine(b.Model))
		return
	}
	if b.For == recovery.WaitTool {
		s.at(e, terminal.OneLine(strings.TrimSuffix(e.Text, ".")))
		return
	}
	if b.For == recovery.WaitCaller {
		s.at(e, "Leaves it to its caller to ask "+terminal.OneLine(b.Model))
		return
	}
	s.at(e, fmt.Sprintf("Waits %s%s, then asks %s", words.Duration(max(0, b.Until.Sub(e.Time))), WaitWord(b.For), terminal.OneLine(b.Model)))
}

func stopReason(b recovery.Ended) string {
	if b.StopReason == "" || b.StopReason == string(b.Status) {
		return ""
	}
	return " (" + b.StopReason + ")"
}

func again(try int) string {
	if try == 0 {
		return ""
	}
	return fmt.Sprintf(" again (try %d)", try+1)
}

// byItself marks a call that the runner did not make.
func byItself(by string) string {
	if by == "" {
		return ""
	}
	if by == recovery.ByCaller {
		return ", at the program that started the run"
	}
	return terminal.OneLine(", by the " + by + " itself")
}

// OnOff is a switch in words.
func OnOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

// Excerpt is the beginning of text, on one line.
func Excerpt(text string) string {
	const most = 300
	return words.Clip(terminal.OneLine(text), most)
}
