package main

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/mulligan-run/mulligan/internal/manual"
)

// TestHelpFits: on a terminal of 80 columns no line of --help is broken in the middle of a word, and
// no example is cut off.
func TestHelpFits(t *testing.T) {
	const columns, margin = 80, 2
	var look func(c *cobra.Command)
	look = func(c *cobra.Command) {
		subs := c.Commands()
		for _, sub := range subs {
			look(sub)
		}
		if c.Name() == "completion" {
			return // it is cobra's
		}
		manual.Fit(c, columns)
		check := func(what, text string, room int) {
			for line := range strings.SplitSeq(text, "\n") {
				if n := utf8.RuneCountInString(line); n > room {
					t.Errorf("%s: %s: %d columns in the room of %d: %s", c.CommandPath(), what, n, room, line)
				}
			}
		}
		check("text", c.Long, columns-margin)
		check("example", c.Example, columns-4*margin)
		for _, sub := range subs {
			check("command", strings.Replace(sub.Use, " [flags]", "", 1), columns/2-len(" [--flags]"))
		}
	}
	look(newRoot())
}
