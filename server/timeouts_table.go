package server

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/mulligan-run/mulligan/config"
	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/internal/terminal"
	"github.com/mulligan-run/mulligan/recovery"
)

// ShowTimeouts prints the timers of a model, and where each value comes from.
func ShowTimeouts(w io.Writer, c *config.Config, models *Models, model string, run recovery.Settings) error {
	resolved := models.TimeoutsOf(c, model, run)
	table := tabwriter.NewWriter(w, 0, 1, 2, ' ', 0)
	_, _ = fmt.Fprintf(table, "TIMER\tLIMIT\tFROM\n") // Flush reports errors
	for _, timer := range recovery.SettableTimers() {
		from := timeoutSource(c, models, model, timer, run)
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\n", timer, SpellLimit(*resolved.Of(timer)), terminal.OneLine(from))
	}
	return table.Flush()
}

// timeoutSource says where the value of a timer comes from.
func timeoutSource(c *config.Config, models *Models, model string, timer failure.Timer, run recovery.Settings) string {
	from := builtInSource(models, model, timer)
	for _, layer := range c.TimeoutLayers(model, run) {
		if _, set := layer.Set[timer]; set {
			from = layer.Where(timer)
		}
	}
	return from
}

// builtInSource explains the value of a timer that nobody set.
func builtInSource(models *Models, model string, timer failure.Timer) string {
	usual := recovery.DefaultPolicy().Timeouts
	builtIn, why := models.builtInTimeouts(model)
	switch {
	case timer == failure.TimerMaxTurn:
		return "as long as run"
	case *builtIn.Of(timer) != *usual.Of(timer):
		return "built in, since the model " + why
	}
	return "built in"
}

// SpellLimit writes a limit for people: "30 s", "off".
func SpellLimit(v failure.Millis) string {
	if v == 0 {
		return "off"
	}
	return words.Duration(v.Duration())
}
