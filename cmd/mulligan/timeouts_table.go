package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/recovery"
)

// showTimeouts prints the timers of a model, and where each value comes from.
func (c *config) showTimeouts(w io.Writer, models *models, model string, run recovery.Settings) error {
	resolved := c.timeoutsOf(models, model, run)
	table := tabwriter.NewWriter(w, 0, 1, 2, ' ', 0)
	_, _ = fmt.Fprintf(table, "TIMER\tLIMIT\tFROM\n") // Flush says what went wrong
	for _, timer := range recovery.SettableTimers() {
		from := c.timeoutSource(models, model, timer, run)
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\n", timer, spellLimit(*resolved.Of(timer)), oneLine(from))
	}
	return table.Flush()
}

// timeoutSource says where the value of a timer comes from.
func (c *config) timeoutSource(models *models, model string, timer failure.Timer, run recovery.Settings) string {
	from := builtInSource(models, model, timer)
	for _, layer := range c.timeoutLayers(model, run) {
		if _, set := layer.set[timer]; set {
			from = layer.where(timer)
		}
	}
	return from
}

// builtInSource says why a timer that nobody set is as it is.
func builtInSource(models *models, model string, timer failure.Timer) string {
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

func spellLimit(v failure.Millis) string {
	if v == 0 {
		return "off"
	}
	return words.Spell(v.Duration())
}
