package main

import (
	"bytes"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/mulligan-run/mulligan/internal/terminal"
)

// lookEvery is how often a watched file of rules is checked.
const lookEvery = 300 * time.Millisecond

func newPluginRulesDev() *cobra.Command {
	var d dryRun
	cmd := &cobra.Command{
		Use:   "dev FILE",
		Short: "Watch a file of rules, and check it again whenever it changes",
		Long: `Does what "check" does, and again whenever the file changes, or the one that
--event names, until you press Ctrl+C. Save the file in your editor and look here.`,
		Example: `mulligan plugin rules dev recovery.yaml
mulligan plugin rules dev recovery.yaml --kind overloaded --attempt 2`,
		Args: takes(1, 1),
		RunE: verb(func(cmd *cobra.Command, args []string) error { return d.dev(cmd, args[0]) }),
	}
	d.flags(cmd)
	return cmd
}

// dev checks a file whenever it changes. At the beginning a missing file is an error; later it waits
// for it, because editors write a new file and rename it.
func (d *dryRun) dev(cmd *cobra.Command, file string) error {
	if err := d.problem(cmd); err != nil {
		return err
	}
	if _, err := os.Stat(file); err != nil {
		return unreadable(err)
	}
	out := cmd.OutOrStdout()
	var last []byte
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		if now := d.looked(file); now != nil && !bytes.Equal(now, last) {
			last = now
			fmt.Fprintf(out, "── %s ──\n", time.Now().Format(time.TimeOnly))
			if err := d.check(cmd, file); err != nil {
				fmt.Fprintln(out, terminal.Printable(err.Error(), true))
			}
			fmt.Fprintf(out, "\nWatching %s. Ctrl+C ends this.\n\n", terminal.OneLine(file))
		}
		select {
		case <-tick.C:
		case <-cmd.Context().Done():
			return nil
		}
	}
}

// looked is the content that the result depends on; nil while a file is missing.
func (d *dryRun) looked(file string) []byte {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	if d.event != "" {
		event, err := os.ReadFile(d.event)
		if err != nil {
			return nil
		}
		text = append(append(text, 0), event...)
	}
	return append(text, 0)
}
