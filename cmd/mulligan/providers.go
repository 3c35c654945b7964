package main

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"

	"github.com/mulligan-run/mulligan/internal/terminal"
	"github.com/mulligan-run/mulligan/recovery"
	gatewayclient "github.com/mulligan-run/mulligan/sdk/go/client"
	"github.com/mulligan-run/mulligan/show"
)

func newProviders() *cobra.Command {
	var (
		f      common
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "providers",
		Short: "Show how the providers do: calls, failures, time to the first token, cooldowns",
		Long: "Show what the gateways of this state folder have counted in the last 24 hours, or since they began: of each model\n" +
			"its calls, those that failed and how, within what time the first of an answer came (half of them, and 95 of\n" +
			"100), what was spent today, who cools down and until when, and how many calls wait for their turn.",
		Example: "mulligan providers\nmulligan providers --json | jq '.providers[].models[] | select(.failed > 0) | .name'\nwatch mulligan providers",
		Args:    cobra.NoArgs,
		RunE: f.loaded(func(cmd *cobra.Command, a *app, _ []string) error {
			all, err := a.gateways()
			if err != nil {
				return err
			}
			for _, one := range all {
				got, err := one.Providers(cmd.Context())
				if err != nil {
					return fmt.Errorf("the gateway of process %d: %w", one.PID, err)
				}
				if asJSON {
					err = show.JSON(a.Screen.Out).Encode(got)
				} else {
					err = a.showProviders(got, one.PID)
				}
				if err != nil {
					return err
				}
			}
			return nil
		}),
	}
	f.register(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON, a line for each gateway")
	return cmd
}

func (a *app) showProviders(of gatewayclient.Providers, pid int) error {
	fmt.Fprintf(a.Screen.Out, "Counted by process %d since %s. Spent today: %s.\n", pid, of.Since.Local().Format("Jan 2 15:04"), today(of))
	if len(of.Providers) == 0 {
		a.Screen.Line("No model is chosen or has a key, and none was called.")
		return nil
	}
	w := tabwriter.NewWriter(a.Screen.Out, 0, 1, 2, ' ', 0)
	fmt.Fprintln(w, strings.Join(modelHead, "\t")+"\tNOW")
	for _, p := range of.Providers {
		for i, m := range p.Models {
			if i > 0 {
				p.Queued = 0 // it is shown once
			}
			fmt.Fprintln(w, modelLine(p, m))
		}
	}
	return w.Flush()
}

// modelLine is a row of a table that is no wider than a page, except for the last
// column.
func modelLine(p gatewayclient.Provider, m gatewayclient.ModelCalls) string {
	return strings.Join(append(modelCells(m), cmp.Or(standing(p, m), dash)), "\t")
}

// modelHead is what modelCells are of.
var modelHead = []string{"MODEL", "CALLS", "FAILED", "FIRST P50/P95", "TODAY"}

const dash = "-"

// modelCells is what was counted of a model.
func modelCells(m gatewayclient.ModelCalls) []string {
	const nameWidth = 30
	failed, first := dash, dash
	if m.Failed > 0 {
		failed = fmt.Sprintf("%d (%d %%)", m.Failed, (m.Failed*100+m.Calls/2)/max(1, m.Calls))
	}
	if m.P95 > 0 {
		first = fmt.Sprintf("%s/%s", seconds(m.P50.Duration()), seconds(m.P95.Duration()))
	}
	return []string{
		ansi.Truncate(terminal.OneLine(m.Name), nameWidth, "…"), strconv.FormatInt(m.Calls, 10), failed, first,
		spent(recovery.Budget{Tokens: m.Tokens, Microdollars: m.Microdollars}),
	}
}

// standing is what is happening to a model, in words.
func standing(p gatewayclient.Provider, m gatewayclient.ModelCalls) string {
	var said []string
	cooling := m.Cooling
	if cooling == nil {
		cooling = p.Cooling
	}
	if cooling != nil {
		said = append(said, "cools down until "+cooling.Until.Local().Format(time.TimeOnly))
	}
	if !m.Ready {
		said = append(said, "no key")
	}
	if p.Queued > 0 {
		said = append(said, fmt.Sprintf("%d wait for their turn", p.Queued))
	}
	for _, f := range m.Failures {
		said = append(said, fmt.Sprintf("%d %s", f.Calls, terminal.OneLine(string(f.Kind))))
	}
	if m.InAir > 0 {
		said = append(said, fmt.Sprintf("%d in the air", m.InAir))
	}
	return strings.Join(said, ", ")
}

func seconds(d time.Duration) string {
	if d < time.Second {
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

// today is what was spent on this day, and of what.
func today(of gatewayclient.Providers) string {
	if of.Budget == (recovery.Budget{}) {
		return spent(of.Spent)
	}
	return spent(of.Spent) + " of " + spent(of.Budget) + ", by all runs"
}

func spent(b recovery.Budget) string {
	switch {
	case b.Microdollars > 0:
		return fmt.Sprintf("$%.2f", float64(b.Microdollars)/1e6)
	case b.Tokens > 0:
		return show.Plural(int(b.Tokens), "token", "tokens")
	}
	return "nothing"
}
