package show

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/internal/exit"
	"github.com/mulligan-run/mulligan/internal/terminal"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/timeline"
)

// Show follows a run to its end, live or as JSON lines, and gives the exit code.
func (s *Screen) Show(run *runner.Run, asJSON bool) error {
	_, err := s.Follow(run, &recovery.Run{}, asJSON, false)
	return err
}

// Follow shows a run from the known state on.
func (s *Screen) Follow(run *runner.Run, known *recovery.Run, asJSON, narrate bool) (runner.Result, error) {
	if asJSON {
		if err := writeItems(s.Out, run, known.Seq); err != nil {
			return runner.Result{}, err
		}
		result, err := run.Wait(context.Background())
		if errors.Is(err, runner.ErrLetGo) {
			s.letGo(run.ID())
		}
		return result, CodeOf(err)
	}
	l := newLive(s, known, narrate)
	if err := l.follow(run); err != nil {
		return runner.Result{}, err
	}
	result, err := run.Wait(context.Background())
	return result, s.conclude(result, err, l)
}

// conclude prints the outcome of a run, apart from what l has shown.
func (s *Screen) conclude(result runner.Result, err error, l *live) error {
	s.End()
	if err == nil {
		if !l.answered {
			s.markdown(result.Text)
		}
		if result.State != nil && result.State.Truncated() {
			s.Line(s.Ink.Amber("! " + CutText))
		}
		return nil
	}
	failed, ok := errors.AsType[*runner.Error](err)
	switch {
	case ok && failed.Suggestion != nil && failed.Suggestion.AsksApproval():
		s.Line(s.Ink.Amber("● " + terminal.OneLine(failed.Failure.Line())))
		s.offer(failed, result.State)
	case ok && failed.Suggestion != nil:
		if !l.failed {
			s.Line(s.Ink.Red("✗ " + terminal.OneLine(failed.Failure.LocalLine(time.Now()))))
		}
		s.offer(failed, result.State)
	case ok:
		if !l.failed {
			s.Line(s.Ink.Red("✗ " + terminal.OneLine(failed.Failure.LocalLine(time.Now()))))
		}
		if reason := reasonOf(result.State); reason != "" {
			s.Line(reason)
		}
		s.Line("The run failed, and there is nothing to choose from. The details:")
		s.Line("  " + s.Hint("runs show "+result.Run))
	case errors.Is(err, runner.ErrCancelled):
		s.stoppedBy(l)
		if errors.Is(err, runner.ErrUnsaved) {
			s.Line(terminal.OneLine(err.Error()))
		}
	case errors.Is(err, runner.ErrParked):
		s.parked(result)
	case errors.Is(err, runner.ErrNeeds):
		s.elsewhere(err)
	case errors.Is(err, runner.ErrLetGo):
		s.letGo(result.Run)
	default:
		return fmt.Errorf("%w\nNothing is lost: %s", err, s.Hint("runs resume "+result.Run))
	}
	return CodeOf(err)
}

// reasonOf is the reason, for people, of the plugin that wanted the run to fail.
func reasonOf(state *recovery.Run) string {
	if state == nil || state.Open == nil || state.Open.Decision == nil {
		return ""
	}
	d := state.Open.Decision
	if d.Action != recovery.ActionFail || d.By == nil || d.By.Reason == "" {
		return ""
	}
	return terminal.OneLine(d.By.Plugin + ": " + d.By.Reason)
}

func (s *Screen) stoppedBy(l *live) {
	if l.LiveOut && l.shown > 0 {
		s.Line("Stopped. The text above is kept.")
		return
	}
	s.Line("Stopped.")
}

func (s *Screen) letGo(run string) {
	s.Line("Left the run; to continue it: " + s.Hint("runs resume "+run))
}

// elsewhere says what a run needs that this machine does not have.
func (s *Screen) elsewhere(err error) {
	if lacks, ok := errors.AsType[*runner.NeedsError](err); ok {
		s.Line(terminal.OneLine(lacks.Error()) + ". It is kept, and goes on once " + s.Hint("serve") + " runs on such a machine (machine: in its mulligan.yaml).")
	}
}

func (s *Screen) parked(result runner.Result) {
	s.Line(fmt.Sprintf("The run waits until %s. You can close this terminal: `%s` or `%s` goes on with it.",
		ParkedUntil(result.State), s.Hint("serve"), s.Hint("runs resume "+result.Run)))
}

// CodeOf is the exit code for a run's error; nothing is printed again.
func CodeOf(err error) error {
	failed, ok := errors.AsType[*runner.Error](err)
	switch {
	case err == nil:
		return nil
	case ok && failed.Suggestion != nil:
		return &exit.Error{Code: exit.CodeSuggestion}
	case errors.Is(err, runner.ErrCancelled):
		return &exit.Error{Code: exit.CodeCancelled}
	case ok, errors.Is(err, runner.ErrParked), errors.Is(err, runner.ErrNeeds):
		return &exit.Error{Code: exit.CodeFailed}
	case errors.Is(err, runner.ErrLetGo):
		return &exit.Error{Code: exit.CodeTerminated}
	}
	return err
}

// offer prints a suggestion's buttons and, unless somebody is asked at once, the command line for
// each.
func (s *Screen) offer(failed *runner.Error, state *recovery.Run) {
	sg := failed.Suggestion
	if state != nil && state.CallAtHand() != nil {
		call := state.CallAtHand()
		s.Line("  " + Excerpt(call.Name+" "+string(call.Args)))
	}
	s.Line("")
	heading := s.Ink.Bold("What can be done")
	if sg.Why != "" {
		heading += s.Ink.Dim(" · " + terminal.OneLine(words.Localize(sg.Why, sg.ResetsAt, time.Now())))
	}
	s.Line(heading)
	if sg.BlockedBy != "" {
		s.Line(s.Ink.Dim("Not done automatically: " + terminal.OneLine(recovery.LimitInWords(sg.BlockedBy)) + "."))
	}
	for i, b := range sg.Actions {
		s.Line(fmt.Sprintf("  %d) %s", i+1, s.Ink.Bold(terminal.OneLine(words.Localize(b.Label, sg.ResetsAt, time.Now())))))
		if s.Asks {
			continue
		}
		if b.Effect == recovery.EffectRunner {
			s.Line("     " + s.Hint("recover "+failed.Run+" --action "+b.ID))
		} else {
			s.Line("     " + s.Ink.Dim(s.ClientHelp(b)))
		}
	}
	s.Line(s.Ink.Dim("It stays open until " + words.Clock(sg.ExpiresAt, time.Now()) + "; everything finished is kept."))
}

// ClientHelp says how to do what no command can do.
func (s *Screen) ClientHelp(b recovery.Button) string {
	if b.URL != "" {
		return "open " + terminal.OneLine(b.URL)
	}
	switch b.Kind {
	case recovery.ButtonEdit:
		return "change the message and run it again"
	case recovery.ButtonFixKey:
		return "set the key in the environment, then choose Retry; `" + s.Hint("doctor") + "` shows which"
	case recovery.ButtonAddCredit:
		return "add credit at the provider, then choose Retry"
	case recovery.ButtonChooseModel:
		return "`" + s.Hint("recover RUN --model PROVIDER/MODEL") + "` goes on with it"
	case recovery.ButtonCopyDetails:
		return "`" + s.Hint("runs show RUN") + "` has the details"
	}
	return "this is yours to do"
}

// deltaLine is a live piece of text in --json output.
type deltaLine struct {
	Delta DeltaBody `json:"delta"`
}

// DeltaBody is a live piece of an attempt's text; Offset is where it begins, in bytes.
type DeltaBody struct {
	Run      string `json:"run"`
	Attempt  uint64 `json:"attempt"`
	Offset   int    `json:"offset"`
	Text     string `json:"text"`
	Thinking bool   `json:"thinking,omitempty"`
}

// noticeLine is a line of --json output for something that is not in any event.
type noticeLine struct {
	Notice noticeBody `json:"notice"`
}

type noticeBody struct {
	Run  string `json:"run"`
	Text string `json:"text"`
}

// writeItems writes a run as JSON lines: events in their stored form, live text as
// deltas, and notices.
func writeItems(w io.Writer, run *runner.Run, after uint64) error {
	encoder := JSON(w)
	for item, err := range run.EventsAfter(after) {
		if err == nil {
			err = encoder.Encode(jsonItem(item))
		}
		if err != nil {
			return fmt.Errorf("run %s: %w", run.ID(), err)
		}
	}
	return nil
}

func jsonItem(item timeline.Item) any {
	if d := item.Delta; d != nil {
		return deltaLine{DeltaBody{d.Run, d.Attempt, d.Offset, d.Text, d.Thinking}}
	}
	if n := item.Notice; n != nil {
		return noticeLine{noticeBody{n.Run, n.Text}}
	}
	return item.Event
}

// suggestionError is a stored run's open suggestion in the form of its error.
func suggestionError(r *recovery.Run) *runner.Error {
	return &runner.Error{Run: r.ID, Failure: &r.Suggestion.Error, Suggestion: r.Suggestion}
}

// ParkedUntil is the time until which a run is parked, in words.
func ParkedUntil(state *recovery.Run) string {
	if state == nil || state.Wait == nil || state.Wait.Until.IsZero() {
		return "its time"
	}
	return words.Clock(state.Wait.Until, time.Now())
}
