package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"

	"github.com/mulligan-run/mulligan/config"
	"github.com/mulligan-run/mulligan/host"
	"github.com/mulligan-run/mulligan/host/trust"
	"github.com/mulligan-run/mulligan/internal/exit"
	"github.com/mulligan-run/mulligan/internal/terminal"
	"github.com/mulligan-run/mulligan/server"
	"github.com/mulligan-run/mulligan/show"
)

const listHelp = `Show how the plugins are doing: those of the config, and what the processes that run them
now tell, whichever terminal they were started from. A plugin has a line for
each process that runs it.

With --start, the configured plugins that no process runs are started for the
occasion; exit code 1 if one of them does not start.`

func newPluginList() *cobra.Command {
	var (
		f             common
		start, asJSON bool
	)
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "Show how the plugins are doing",
		Long:    listHelp,
		Example: "mulligan plugin list\nmulligan plugin list --start\nmulligan plugin list --json | jq -r 'select(.state == \"tripped\") | .lastError'",
		Args:    cobra.NoArgs,
		RunE: f.loaded(func(cmd *cobra.Command, a *app, _ []string) error {
			rows, err := a.pluginRows()
			if err != nil {
				return err
			}
			if start {
				ctx, stop := a.interruptible(cmd.Context())
				defer stop()
				if rows, err = a.startIdle(ctx, rows); err != nil {
					return interrupted(ctx, err)
				}
			}
			if err := a.listPlugins(rows, asJSON); err != nil {
				return err
			}
			if start && slices.ContainsFunc(rows, func(r pluginRow) bool { return r.Configured && !r.starts() }) {
				return &exit.Error{Code: exit.CodeFailed}
			}
			return nil
		}),
	}
	f.register(cmd)
	cmd.Flags().BoolVar(&start, "start", false, "start those that no process runs, and see whether they do")
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON lines")
	return cmd
}

// pluginRow is a plugin as one host has it or, if no host has it, as it is configured.
type pluginRow struct {
	host.Status
	Configured bool     `json:"configured"`
	Builtin    bool     `json:"builtin,omitempty"`
	Shadow     bool     `json:"shadow,omitempty"`
	Command    []string `json:"command,omitempty"`
}

// pluginRows are the configured plugins in order, followed by others that hosts run.
func (a *app) pluginRows() ([]pluginRow, error) {
	states, err := host.ReadStates(a.PluginState())
	if err != nil {
		return nil, fmt.Errorf("what runs now: %w", err)
	}
	l, err := trust.ReadLock(a.Config.LockPath())
	if err != nil {
		return nil, err
	}
	slices.SortFunc(states, func(x, y host.HostState) int { return x.PID - y.PID })
	var rows []pluginRow
	for _, p := range a.Config.AskedPlugins() {
		n := len(rows)
		for _, s := range states {
			for _, status := range s.Plugins {
				if status.Name == p.Name {
					rows = append(rows, rowOf(p, status))
				}
			}
		}
		if len(rows) == n {
			rows = append(rows, rowOf(p, host.Status{
				Name: p.Name, Address: p.Address, State: host.StateStopped, Breaker: host.BreakerClosed, Pinned: p.HasFolder() && l.Plugins[p.Name].SHA256 != "",
			}))
		}
	}
	for _, s := range states {
		for _, status := range s.Plugins {
			if !slices.ContainsFunc(a.Config.AskedPlugins(), func(p config.Plugin) bool { return p.Name == status.Name }) {
				rows = append(rows, pluginRow{Status: status, Shadow: status.Labels[server.LabelShadow] != ""})
			}
		}
	}
	return rows, nil
}

// startIdle starts the configured plugins that no host runs.
func (a *app) startIdle(ctx context.Context, rows []pluginRow) ([]pluginRow, error) {
	var idle []config.Plugin
	for _, p := range a.Config.AskedPlugins() {
		if slices.ContainsFunc(rows, func(r pluginRow) bool { return r.Name == p.Name && r.HostPID == 0 }) {
			idle = append(idle, p)
		}
	}
	if err := a.HostFor(ctx, idle); err != nil || a.Plugins == nil {
		return rows, err
	}
	err := a.Plugins.Start(ctx)
	if ctx.Err() != nil {
		return nil, err
	}
	for _, s := range a.Plugins.Statuses() {
		i := slices.IndexFunc(rows, func(r pluginRow) bool { return r.Name == s.Name && r.Configured })
		rows[i].Status = s
		rows[i].HostPID = 0 // it is this process, which is about to end
	}
	return rows, nil
}

func rowOf(p config.Plugin, s host.Status) pluginRow {
	return pluginRow{Status: s, Configured: true, Builtin: p.IsBuiltin(), Shadow: p.Shadow, Command: p.Command}
}

func (a *app) listPlugins(rows []pluginRow, asJSON bool) error {
	if asJSON {
		encoder := show.JSON(a.Screen.Out)
		for _, r := range rows {
			if err := encoder.Encode(r); err != nil {
				return err
			}
		}
		return nil
	}
	if len(rows) == 0 {
		a.Screen.Line("No plugin is configured (plugins: [] in " + cmp.Or(a.Config.Path, "mulligan.yaml") + "): failures are final.")
		return nil
	}
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 1, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tSTATE\tVERSION\tLANGUAGE\tPID\tRESTARTS\tP50/P99 MS")
	for _, r := range rows {
		fmt.Fprintln(w, r.line())
	}
	if err := w.Flush(); err != nil {
		return err
	}
	lines := strings.Split(strings.TrimSuffix(table.String(), "\n"), "\n")
	fmt.Fprintln(a.Screen.Out, lines[0])
	for i, r := range rows {
		fmt.Fprintln(a.Screen.Out, lines[i+1])
		if more := r.more(); more != "" {
			fmt.Fprintln(a.Screen.Out, show.Indent(ansi.Wrap(more, show.PageWidth-len(under), ""), under))
		}
	}
	return nil
}

// A list is no wider than a page. --json has names in full.
const (
	nameWidth  = 18
	wordWidth  = 9
	under      = "  "
	unknownYet = "-"
)

func (r pluginRow) line() string {
	pid, latency := unknownYet, unknownYet
	if r.PID != 0 {
		pid = strconv.Itoa(r.PID)
	}
	if r.P99 > 0 {
		latency = fmt.Sprintf("%d/%d", r.P50, r.P99)
	}
	cut := func(text string, n int) string {
		return ansi.Truncate(cmp.Or(terminal.OneLine(text), unknownYet), n, "…")
	}
	return strings.Join([]string{
		cut(r.Name, nameWidth), string(r.State), cut(r.Version, wordWidth), cut(r.Language, len("typescript")), pid, strconv.Itoa(r.Restarts), latency,
	}, "\t")
}

// starts reports whether there is a process, or a connection to a service.
func (r pluginRow) starts() bool {
	return r.PID != 0 || r.Address != "" && r.State == host.StateReady
}

// more is what is printed below a plugin's line.
func (r pluginRow) more() string {
	var said []string
	add := func(is bool, what string) {
		if is {
			said = append(said, what)
		}
	}
	add(r.Builtin, "builtin")
	add(r.Address != "", "service at "+terminal.OneLine(r.Address))
	add(r.Pinned, "pinned")
	add(r.Configured && !r.Pinned && !r.Builtin && r.Address == "", "not pinned")
	add(r.Shadow, "shadow")
	if r.Disabled != nil {
		add(true, "disabled by "+terminal.OneLine(r.Disabled.By)+" at "+r.Disabled.At.Local().Format(time.DateTime))
	}
	add(r.Labels[server.LabelDev] != "", "under development")
	add(!r.Configured, "not in this config")
	add(r.HostPID != 0, fmt.Sprintf("run by process %d", r.HostPID))
	add(r.HostPID == 0 && r.State == host.StateStopped, "no process runs it now")
	add(r.Breaker != "" && r.Breaker != host.BreakerClosed, "breaker "+r.Breaker)
	text := strings.Join(said, " · ")
	if r.LastError != "" {
		text = strings.TrimPrefix(text+"\n", "\n") + "last error: " + show.Excerpt(r.LastError)
	}
	return text
}
