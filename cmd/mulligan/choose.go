package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/muesli/cancelreader"

	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/internal/exit"
	"github.com/mulligan-run/mulligan/internal/terminal"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/show"
)

// showChoosing is show for a person at the terminal: whenever the run ends with a
// suggestion they choose an action, and the run continues.
func (a *app) showChoosing(ctx context.Context, in io.Reader, r *runner.Runner, run *runner.Run) error {
	for known := (&recovery.Run{}); ; {
		_, err := a.Screen.Follow(run, known, false, false)
		if coded := (*exit.Error)(nil); !errors.As(err, &coded) || coded.Code != exit.CodeSuggestion {
			return err
		}
		if known, err = a.fold(ctx, run.ID()); err != nil {
			return err
		}
		button, ok := a.choose(ctx, in, known.Suggestion.Actions)
		if !ok {
			a.Screen.Line("It stays open: " + a.Screen.Hint("recover "+run.ID()))
			return &exit.Error{Code: exit.CodeSuggestion}
		}
		run, err = r.Recover(ctx, run.ID(), runner.Answer{Suggestion: known.Suggestion.ID, Action: button.ID})
		if err != nil {
			return a.explain(interrupted(ctx, err))
		}
		if button.Kind == recovery.ButtonStop {
			_, err := run.Wait(context.WithoutCancel(ctx))
			a.Screen.Line("Stopped.")
			return show.CodeOf(err)
		}
	}
}

// choose asks for one of the buttons until there is an answer; false if there is none.
func (a *app) choose(ctx context.Context, in io.Reader, buttons []recovery.Button) (recovery.Button, bool) {
	s := a.Screen
	for {
		s.Prompt(fmt.Sprintf("Choose 1–%d, or q to leave it open [%d]: ", len(buttons), usual(buttons)))
		answer, err := readLine(ctx, in)
		if err != nil || answer == "q" {
			return recovery.Button{}, false
		}
		b, err := pick(buttons, answer)
		switch {
		case err != nil:
			s.Line(err.Error())
		case b.Effect != recovery.EffectRunner:
			s.Line(terminal.OneLine(b.Label) + ": " + s.ClientHelp(b) + ".")
		default:
			return b, true
		}
	}
}

// pick is the button that an answer means.
func pick(buttons []recovery.Button, answer string) (recovery.Button, error) {
	n, err := usual(buttons), error(nil)
	if answer != "" {
		n, err = strconv.Atoi(answer)
	}
	if err != nil || n < 1 || n > len(buttons) {
		return recovery.Button{}, fmt.Errorf("%q is none of them: type a number from 1 to %d", terminal.OneLine(words.Clip(answer, 40)), len(buttons))
	}
	return buttons[n-1], nil
}

// usual is the number of the button that an empty line means: the primary one, or the first
// that the runner can do and that continues the run.
func usual(buttons []recovery.Button) int {
	first := 0
	for i, b := range buttons {
		switch {
		case b.Effect != recovery.EffectRunner:
		case b.Primary:
			return i + 1
		case first == 0 && b.Kind != recovery.ButtonStop:
			first = i + 1
		}
	}
	return max(1, first)
}

// readLine reads a typed line, until ctx ends. It reads nothing beyond the line, so
// that what is typed later is left for others.
func readLine(ctx context.Context, in io.Reader) (string, error) {
	reader, err := cancelreader.NewReader(in)
	if err != nil {
		return "", err
	}
	defer reader.Close()
	defer context.AfterFunc(ctx, func() { reader.Cancel() })()
	text, err := bufio.NewReader(reader).ReadString('\n')
	return strings.TrimSpace(text), err
}
