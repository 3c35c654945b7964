package show

import (
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/internal/answers"
	"github.com/mulligan-run/mulligan/internal/terminal"
)

// Answer prints the result, or the expected result, for a suggestion that was answered
// together with others.
func (s *Screen) Answer(r answers.Result, asJSON bool) error {
	if asJSON {
		line := map[string]any{"run": r.Run.Run, "title": r.Run.Title, "state": r.State}
		for name, value := range map[string]string{"action": r.Offer.Kind, "model": r.Offer.Model, "label": r.Offer.Label} {
			if value != "" {
				line[name] = value
			}
		}
		if r.Err != nil {
			line["detail"] = r.Err.Error()
		}
		encoder := JSON(s.Out)
		return encoder.Encode(line)
	}
	what := ""
	switch r.State {
	case answers.Would:
		what = "would: " + words.Localize(r.Offer.Label, r.Run.WaitingUntil, time.Now())
	case answers.None:
		what = "is offered nothing like that, and is left alone"
		if r.Run.Course.Course().Approval != "" {
			what = "waits for your approval, which is given one by one, and is left alone"
		}
	case answers.Failed:
		what = "was not answered: " + r.Err.Error()
	}
	line := strings.TrimSpace(terminal.OneLine(r.Run.Run+"  "+what) + "  " + s.Ink.Dim(terminal.OneLine(r.Run.Title)))
	if s.LiveOut && r.Err == nil { // an error is read to its end
		line = ansi.Truncate(line, s.width, "…")
	}
	s.Print(line)
	return nil
}
