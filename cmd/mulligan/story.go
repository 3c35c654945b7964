package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
)

// story tells a run that is in the timeline, from its events.
type story struct {
	*screen
	run   *recovery.Run
	start time.Time
}

// tell prints the story of a run on stdout.
func (a *app) tell(events []recovery.Event) error {
	// A story is one text: all of it goes to stdout.
	s := &story{screen: &screen{out: a.screen.out, err: a.screen.out, ink: wantsColour(a.screen.liveOut)}, run: &recovery.Run{}}
	for _, e := range events {
		if s.run.Seq == 0 {
			s.start = e.Time
		}
		if err := s.run.Apply(e); err != nil {
			return err
		}
		s.event(e)
	}
	s.ending(a)
	return nil
}

// at prints a line with the time since the run began.
func (s *story) at(e recovery.Event, text string) {
	since := e.Time.Sub(s.start).Seconds()
	s.line(s.ink.dim(fmt.Sprintf("%8.2f s  ", since)) + text)
}

func (s *story) under(text string) { s.line(indent(text, strings.Repeat(" ", 12))) }

func (s *story) event(e recovery.Event) {
	switch b := e.Body.(type) {
	case recovery.Started:
		s.started(e, b)
	case recovery.Claimed:
		if e.Seq > 2 {
			s.at(e, "Claimed by "+oneLine(b.Owner)+": the run goes on")
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
			s.at(e, "Timer "+string(b.Timer)+" is due")
		}
	case recovery.ToolBegan:
		s.at(e, fmt.Sprintf("Tool %s begins%s%s", s.ink.bold(oneLine(b.Name)), again(b.Try), byItself(b.By)))
	case recovery.ToolReturned:
		s.at(e, fmt.Sprintf("Tool %s: %s after %s", oneLine(b.Result.Name), b.Outcome, words.Spell(b.Elapsed.Duration())))
		s.under(s.ink.dim(excerpt(b.Result.Text)))
	case recovery.Accepted:
		s.at(e, s.ink.cyan("A person chose "+oneLine(b.Action+" "+b.Model)))
	case recovery.Suggested:
		s.at(e, s.ink.amber("Suggestion "+b.Suggestion.ID+": "+tellAction(b.Suggestion.SuggestedAction, b.Suggestion.NewModel, 0)))
	case recovery.Checkpointed:
	case recovery.Ended:
		s.at(e, s.ink.bold("Ended: "+string(b.Status)+stopReason(b)))
	default:
		s.at(e, oneLine(orElse(recovery.LocalText(s.run, e, time.Now()), strings.ReplaceAll(e.Type(), "_", " "))))
	}
}

func (s *story) started(e recovery.Event, b recovery.Started) {
	s.line(s.ink.bold("Run " + e.Run))
	s.line(fmt.Sprintf("started %s · model %s · auto-recover %s", stamp(e.Time), oneLine(b.Model), onOff(b.Policy.AutoRecover)))
	if len(b.Policy.Models) > 1 {
		s.line("may switch to " + oneLine(strings.Join(b.Policy.Models[1:], ", ")))
	}
	s.line("plugins " + oneLine(orElse(strings.Join(b.Policy.Plugins, ", "), "none")))
	for _, m := range b.Input {
		if m.Role == llm.RoleUser {
			s.line("prompt  " + excerpt(m.Text()))
		}
	}
	s.line("")
}

func (s *story) began(e recovery.Event, b recovery.Began) {
	text := fmt.Sprintf("Attempt %d: asks %s", b.Attempt, s.ink.bold(oneLine(b.Model)))
	if b.Try > 0 {
		text += fmt.Sprintf(" (try %d of this call)", b.Try+1)
	}
	if b.Again {
		text += fmt.Sprintf(" once more, with an output limit of %d tokens", b.Adjust.MaxOutputTokens)
	}
	if b.Withdraws != 0 {
		text += fmt.Sprintf("; the text of attempt %d is withdrawn", b.Withdraws)
	}
	s.at(e, text)
}

func (s *story) answered(e recovery.Event, b recovery.Answered) {
	text := fmt.Sprintf("Attempt %d answered", b.Attempt)
	if b.FirstEvent > 0 {
		text += ", first event after " + words.Spell(b.FirstEvent.Duration())
	}
	s.at(e, s.ink.green(fmt.Sprintf("%s (%d tokens)", text, b.Usage.Total())))
	if b.Stop == llm.StopLength {
		s.under(s.ink.amber(cutText))
	}
	if said := b.Message.Text(); said != "" {
		s.under(excerpt(said))
	}
	for _, c := range b.Message.Calls() {
		s.under("calls " + oneLine(c.Name+" "+string(c.Args)))
	}
}

func (s *story) failed(e recovery.Event, b recovery.Failed) {
	f := b.Failure
	s.at(e, s.ink.red(oneLine(f.LocalLine(time.Now()))))
	facts := []string{string(f.Code), "kind " + string(f.Kind), "phase " + string(f.Phase)}
	if f.HTTPStatus != 0 {
		facts = append(facts, fmt.Sprintf("HTTP %d", f.HTTPStatus))
	}
	if f.Timer != "" {
		facts = append(facts, "timer "+string(f.Timer))
	}
	if f.RequestID != "" {
		facts = append(facts, "request "+f.RequestID)
	}
	s.under(s.ink.dim(oneLine(strings.Join(facts, " · "))))
	if f.Detail != "" {
		s.under(s.ink.dim(excerpt(f.Detail)))
	}
	if a := s.run.Attempt; a != nil && a.ID == b.Attempt && len(a.Text) > 0 {
		s.under(s.ink.dim("partial text: " + excerpt(string(a.Text))))
	}
	for _, c := range b.Cooling {
		s.under(s.ink.dim(fmt.Sprintf("%s cools down until %s (%s)", oneLine(c.Model), words.Clock(c.Until, time.Now()), c.Kind)))
	}
}

func (s *story) voted(e recovery.Event, v recovery.Vote) {
	if v.Shadow {
		s.at(e, s.ink.dim(tellShadow(v)))
		return
	}
	if v.Error != "" {
		s.at(e, s.ink.amber(fmt.Sprintf("Plugin %s gave no answer (%d ms): %s", oneLine(v.Plugin), v.Latency, excerpt(v.Error))))
		return
	}
	s.at(e, s.ink.cyan("P"+tellVote(v)[1:]))
}

func (s *story) decided(e recovery.Event, d recovery.Decision) {
	text := "Decided: " + tellAction(d.Action, d.NewModel, d.Delay)
	if d.By != nil {
		text += ", by " + d.By.Plugin
	}
	if d.BlockedBy != "" {
		text += "; only offered, because " + recovery.LimitInWords(d.BlockedBy)
	}
	s.at(e, oneLine(text))
	for _, ignored := range d.Ignored {
		s.under(s.ink.dim("ignored: " + oneLine(ignored)))
	}
}

// ending says where the run stands.
func (s *story) ending(a *app) {
	r := s.run
	s.line("")
	s.line(fmt.Sprintf("%s: %s, %s", s.ink.bold(string(r.Status)), plural(int(r.Attempts), "request", "requests"),
		plural(r.FailedAttempts, "failed attempt", "failed attempts")))
	s.line(usageLine(r))
	if text := r.Answer(); text != "" {
		label := "answer"
		if r.Attempt != nil && len(r.Attempt.Text) > 0 {
			label = "partial answer"
		}
		s.line(label + ":")
		s.line(indent(printable(text, true), "  "))
		if r.Truncated() {
			s.line(s.ink.amber("! " + cutText))
		}
	}
	switch {
	case r.SuggestionOpen() && r.OpenSuggestion(time.Now()) == nil:
		s.line("This suggestion has expired. Send your message again.")
	case r.SuggestionOpen():
		a.screen = s.screen
		a.offer(suggestionError(r), r)
	case r.End == nil && r.Status != recovery.StatusFailed:
		s.line("If nobody drives it: " + a.hint("runs resume "+r.ID))
	}
}

// cutText says that an answer is not all that the model would have said.
const cutText = "The answer was cut at the output limit."

func waitWord(w recovery.WaitFor) string {
	switch w {
	case recovery.WaitTime:
		return ""
	case recovery.WaitReset:
		return " for the provider's reset"
	}
	return " for the " + oneLine(string(w))
}

func (s *story) waiting(e recovery.Event, b recovery.Waiting) {
	if b.For == recovery.WaitNetwork {
		s.at(e, "This computer is offline: waits for the network, then asks "+oneLine(b.Model))
		return
	}
	s.at(e, fmt.Sprintf("Waits %s%s, then asks %s", words.Spell(max(0, b.Until.Sub(e.Time))), waitWord(b.For), oneLine(b.Model)))
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

// byItself tells a call that the runner did not make.
func byItself(by string) string {
	if by == "" {
		return ""
	}
	return ", by the " + by + " itself"
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

// excerpt is the beginning of text, on one line.
func excerpt(text string) string {
	const most = 300
	return words.Clip(oneLine(text), most)
}
