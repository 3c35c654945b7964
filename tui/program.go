package tui

import (
	"context"
	"errors"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
)

// show runs a program in this terminal until the person leaves or ctx ends, neither of which is an
// error. Signals are the caller's, who ends ctx by them: Bubble Tea's own handler, told of a signal that
// also ends ctx, may wait for ever to pass it on to a program that has ended.
func show(ctx context.Context, model tea.Model, noColor bool, options ...tea.ProgramOption) error {
	options = append(options, tea.WithContext(ctx), tea.WithoutSignalHandler())
	if noColor {
		options = append(options, tea.WithColorProfile(colorprofile.ASCII))
	}
	_, err := tea.NewProgram(model, options...).Run()
	if ctx.Err() != nil || errors.Is(err, tea.ErrInterrupted) {
		return nil //nolint:nilerr // whoever has seen enough, or is stopped, leaves
	}
	return err
}
