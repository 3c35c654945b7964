package main

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/timeline"
)

// show follows a run to its end, live or as JSON lines, and gives the exit code.
func (a *app) show(run *runner.Run, asJSON bool) error {
	_, err := a.follow(run, &recovery.Run{}, asJSON, false)
	return err
}

// follow shows a run from the state on that is known.
func (a *app) follow(run *runner.Run, known *recovery.Run, asJSON, narrate bool) (runner.Result, error) {
	if asJSON {
		if err := writeItems(a.screen.out, run, known.Seq); err != nil {
			return runner.Result{}, err
		}
		result, err := run.Wait()
		if errors.Is(err, runner.ErrLetGo) {
			a.letGo(run.ID())
		}
		return result, codeOf(err)
	}
	l := newLive(a.screen, known, narrate)
	if err := l.follow(run); err != nil {
		return runner.Result{}, err
	}
	result, err := run.Wait()
	return result, a.conclude(result, err, l)
}

// conclude prints what a run has come to, apart from what l has shown.
func (a *app) conclude(result runner.Result, err error, l *live) error {
	s := a.screen
	s.end()
	if err == nil {
		if !l.answered {
			s.markdown(result.Text)
		}
		if result.State != nil && result.State.Truncated() {
			s.line(s.ink.amber("! " + cutText))
		}
		return nil
	}
	failed, ok := errors.AsType[*runner.Error](err)
	switch {
	case ok && failed.Suggestion != nil:
		if !l.failed {
			s.line(s.ink.red("✗ " + oneLine(failed.Failure.LocalLine(time.Now()))))
		}
		a.offer(failed, result.State)
	case ok:
		if !l.failed {
			s.line(s.ink.red("✗ " + oneLine(failed.Failure.LocalLine(time.Now()))))
		}
		if reason := reasonOf(result.State); reason != "" {
			s.line(reason)
		}
		s.line("The run failed, and there is nothing to choose from. The details:")
		s.line("  " + a.hint("runs show "+result.Run))
	case errors.Is(err, runner.ErrCancelled):
		a.stoppedBy(l)
		if errors.Is(err, runner.ErrUnsaved) {
			s.line(oneLine(err.Error()))
		}
	case errors.Is(err, runner.ErrParked):
		a.parked(result)
	case errors.Is(err, runner.ErrLetGo):
		a.letGo(result.Run)
	default:
		return fmt.Errorf("%w\nNothing is lost: %s", err, a.hint("runs resume "+result.Run))
	}
	return codeOf(err)
}

// reasonOf is what the plugin that wanted the run to fail says to people.
func reasonOf(state *recovery.Run) string {
	if state == nil || state.Open == nil || state.Open.Decision == nil {
		return ""
	}
	d := state.Open.Decision
	if d.Action != recovery.ActionFail || d.By == nil || d.By.Reason == "" {
		return ""
	}
	return oneLine(d.By.Plugin + ": " + d.By.Reason)
}

func (a *app) stoppedBy(l *live) {
	if l.liveOut && l.shown > 0 {
		a.screen.line("Stopped. The text above is kept.")
		return
	}
	a.screen.line("Stopped.")
}

func (a *app) letGo(run string) {
	a.screen.line("Let go of the run; go on with it: " + a.hint("runs resume "+run))
}

func (a *app) parked(result runner.Result) {
	a.screen.line(fmt.Sprintf("The run waits until %s. You can close this terminal: `%s` or `%s` goes on with it.",
		parkedUntil(result.State), a.hint("serve"), a.hint("runs resume "+result.Run)))
}

// codeOf is a run's error as an exit code; what was said is not said again.
func codeOf(err error) error {
	failed, ok := errors.AsType[*runner.Error](err)
	switch {
	case err == nil:
		return nil
	case ok && failed.Suggestion != nil:
		return &exitError{code: exitSuggestion}
	case errors.Is(err, runner.ErrCancelled):
		return &exitError{code: exitCancelled}
	case errors.Is(err, runner.ErrLetGo):
		return &exitError{code: exitTerminated}
	case ok, errors.Is(err, runner.ErrParked):
		return &exitError{code: exitFailed}
	}
	return err
}

// offer prints a suggestion's buttons and, unless somebody is asked at once, the line that
// chooses each.
func (a *app) offer(failed *runner.Error, state *recovery.Run) {
	s, sg := a.screen, failed.Suggestion
	if state != nil && state.CallAtHand() != nil {
		call := state.CallAtHand()
		s.line("  " + excerpt(call.Name+" "+string(call.Args)))
	}
	s.line("")
	heading := s.ink.bold("What can be done")
	if sg.Why != "" {
		heading += s.ink.dim(" · " + oneLine(words.Localize(sg.Why, sg.ResetsAt, time.Now())))
	}
	s.line(heading)
	if sg.BlockedBy != "" {
		s.line(s.ink.dim("Not done by itself: " + oneLine(recovery.LimitInWords(sg.BlockedBy)) + "."))
	}
	for i, b := range sg.Actions {
		s.line(fmt.Sprintf("  %d) %s", i+1, s.ink.bold(oneLine(words.Localize(b.Label, sg.ResetsAt, time.Now())))))
		if s.asks {
			continue
		}
		if b.Effect == recovery.EffectRunner {
			s.line("     " + a.hint("recover "+failed.Run+" --action "+b.ID))
		} else {
			s.line("     " + s.ink.dim(clientHelp(b)))
		}
	}
	s.line(s.ink.dim("It stays open until " + words.Clock(sg.ExpiresAt, time.Now()) + "; everything finished is kept."))
}

// clientHelp says how to do what no command does.
func clientHelp(b recovery.Button) string {
	if b.URL != "" {
		return "open " + oneLine(b.URL)
	}
	switch b.Kind {
	case recovery.ButtonEdit:
		return "change the message and run it again"
	case recovery.ButtonFixKey:
		return "set the key in the environment, then choose Retry; `mulligan doctor` shows which"
	case recovery.ButtonAddCredit:
		return "add credit at the provider, then choose Retry"
	case recovery.ButtonChooseModel:
		return "`mulligan recover RUN --model PROVIDER/MODEL` goes on with it"
	case recovery.ButtonCopyDetails:
		return "`mulligan runs show RUN` has the details"
	}
	return "this is yours to do"
}

// hint is a command line that works when typed.
func (a *app) hint(args string) string {
	line := invoked() + " " + args
	if a.flags.state != "" {
		line += " --state " + shellQuote(a.flags.state)
	}
	if a.flags.config != "" {
		line += " --config " + shellQuote(a.flags.config)
	}
	return line
}

// deltaLine is a live piece of text in --json output.
type deltaLine struct {
	Delta deltaBody `json:"delta"`
}

type deltaBody struct {
	Run      string `json:"run"`
	Attempt  uint64 `json:"attempt"`
	Offset   int    `json:"offset"`
	Text     string `json:"text"`
	Thinking bool   `json:"thinking,omitempty"`
}

// noticeLine tells, in --json output, what is in no event.
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
	encoder := jsonTo(w)
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
		return deltaLine{deltaBody{d.Run, d.Attempt, d.Offset, d.Text, d.Thinking}}
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
