package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/mulligan-run/mulligan/config"
	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/internal/exit"
	"github.com/mulligan-run/mulligan/plugins/rules"
	"github.com/mulligan-run/mulligan/recovery"
)

func newPluginRules() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "rules",
		Short: "Recovery as rules in YAML: check a file of rules, or watch it",
		Long: "rules is a plugin that comes with this program: it decides by rules in YAML. docs/rules.md has\n" +
			"what they may say.",
		Example: `mulligan plugin rules check recovery.yaml

# mulligan.yaml
plugins:
  - name: rules
    config: {file: recovery.yaml}
  - auto-recover`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newPluginRulesCheck(), newPluginRulesDev())
	return cmd
}

// dryRun are the flags of plugin rules check.
type dryRun struct {
	event, kind, model string
	at                 string
	attempt            int
	alternatives       []string
}

func newPluginRulesCheck() *cobra.Command {
	var d dryRun
	cmd := &cobra.Command{
		Use:   "check FILE",
		Short: "Check a file of rules, and show what it would decide",
		Long: `Reads the file as the plugin does, and says where it is wrong. If it is right, it
shows the rules, those that can never decide, and what would be decided about
failures of every kind, attempt after attempt. No model is asked.

With --kind or --event it is about one failure. An event is a file of JSON or
YAML with the names that rules use; what it leaves out is assumed.

Exit codes: 0 the file is right, 1 it is wrong, 2 wrong usage.`,
		Example: `mulligan plugin rules check recovery.yaml
mulligan plugin rules check recovery.yaml --kind overloaded --attempt 2
mulligan plugin rules check recovery.yaml --event event.json   # {"failure": {"kind": "quota"}, "attempt": 1}`,
		Args: takes(1, 1),
		RunE: verb(func(cmd *cobra.Command, args []string) error { return d.check(cmd, args[0]) }),
	}
	d.flags(cmd)
	return cmd
}

func (d *dryRun) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&d.event, "event", "", "decide about the failure in this file of JSON or YAML")
	cmd.Flags().StringVar(&d.kind, "kind", "", "decide about a failure of this kind")
	cmd.Flags().IntVar(&d.attempt, "attempt", 0, "with --kind: the attempt that failed, from 0")
	cmd.Flags().StringVar(&d.at, "at", "", "when it failed, for example 2026-05-04T22:30:00+02:00 (default: now)")
	cmd.Flags().StringVar(&d.model, "model", "", "the model that failed (default example/model)")
	cmd.Flags().StringSliceVar(&d.alternatives, "alternative", nil, "a model that may be switched to (default: those that the rules name)")
}

func (d *dryRun) check(cmd *cobra.Command, file string) error {
	if err := d.problem(cmd); err != nil {
		return err
	}
	rs, err := rules.Load(file)
	if err != nil {
		return unreadable(err)
	}
	at, err := d.moment(time.Now())
	if err != nil {
		return err
	}
	x := rules.Example{Kind: failure.Kind(d.kind), Model: d.model, Attempt: d.attempt, At: at, Alternatives: d.alternatives}
	out := cmd.OutOrStdout()
	switch {
	case d.event != "":
		f, err := rules.LoadEvent(d.event)
		if err != nil {
			return unreadable(err)
		}
		f.Happened(at)
		d.tellMoment(out, rs, f.Failure.At)
		return rs.WriteDecision(out, f)
	case d.kind != "":
		d.tellMoment(out, rs, at)
		return rs.WriteDecision(out, rs.Facts(x))
	}
	if err := rs.WriteTable(out); err != nil || len(rs.Rules) == 0 {
		return err
	}
	d.tellMoment(out, rs, at)
	return rs.WriteLadders(out, x)
}

// moment is the assumed time of the failure.
func (d *dryRun) moment(now time.Time) (time.Time, error) {
	if d.at == "" {
		return now, nil
	}
	at, err := time.Parse(time.RFC3339, d.at)
	if err != nil {
		return at, exit.Usagef("--at: %q is not a time such as 2026-05-04T22:30:00+02:00", d.at)
	}
	return at, nil
}

// tellMoment prints the time for which the rules are evaluated, if it makes a
// difference.
func (d *dryRun) tellMoment(out io.Writer, rs *rules.Rules, at time.Time) {
	if rs.DependOnTime() {
		fmt.Fprintf(out, "Judged as at %s; --at takes another time.\n\n", at.UTC().Format("Mon 2 Jan 2006 15:04 UTC"))
	}
}

// unreadable makes a missing file wrong usage; an invalid one is a result.
func unreadable(err error) error {
	if problems := rules.Problems(nil); errors.As(err, &problems) {
		return err
	}
	return exit.Usage(err)
}

// problem says which flags do not go together, or have invalid values.
func (d *dryRun) problem(cmd *cobra.Command) error {
	changed := cmd.Flags().Changed
	for _, other := range []string{"kind", "attempt", "model", "alternative"} {
		if d.event != "" && changed(other) {
			return exit.Usagef("--event and --%s do not go together: the file says it", other)
		}
	}
	if err := rules.CheckKind(d.kind); changed("kind") && err != nil {
		return exit.Usagef("--kind: %w", err)
	}
	if changed("attempt") && (d.kind == "" || d.attempt < 0 || d.attempt >= recovery.MaxAttemptsInAll) {
		return exit.Usagef("--attempt is from 0 to %d, and needs --kind", recovery.MaxAttemptsInAll-1)
	}
	for _, model := range append([]string{cmp.Or(d.model, "a/b")}, d.alternatives...) {
		if err := config.CheckModel(model); err != nil {
			return exit.Usage(err)
		}
	}
	return nil
}
