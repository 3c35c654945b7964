package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/host"
)

// logsFlags are the flags of plugin logs.
type logsFlags struct {
	common
	follow, json bool
	lines        int
}

func newPluginLogs() *cobra.Command {
	f := &logsFlags{}
	cmd := &cobra.Command{
		Use:   "logs [NAME]",
		Short: "Show what plugins wrote to standard error, and what happened to them",
		Long: "Show what a plugin, or all of them, wrote to standard error and what happened to it, whichever process\n" +
			"ran it. The logs are bounded: of each plugin about the last 3 MiB are kept.",
		Example: "mulligan plugin logs\nmulligan plugin logs mine --follow\nmulligan plugin logs mine --lines 1000 --json | jq -r 'select(.level == \"ERROR\") | .msg'",
		Args:    cobra.MaximumNArgs(1),
		RunE: f.loaded(func(cmd *cobra.Command, a *app, args []string) error {
			return f.show(cmd, a, args)
		}),
	}
	f.register(cmd)
	cmd.Flags().BoolVarP(&f.follow, "follow", "f", false, "go on showing what comes, until Ctrl-C")
	cmd.Flags().IntVarP(&f.lines, "lines", "n", 50, "how many of the last lines")
	cmd.Flags().BoolVar(&f.json, "json", false, "as JSON lines")
	return cmd
}

func (f *logsFlags) show(cmd *cobra.Command, a *app, args []string) error {
	if f.lines < 0 {
		return usagef("--lines %d is negative", f.lines)
	}
	logs, err := a.pluginLogs(args, f.follow)
	if err != nil {
		return err
	}
	defer closeLogs(logs)
	ctx, stop := a.interruptible(cmd.Context())
	defer stop()
	var all []logLine
	for _, l := range logs {
		all = append(all, l.history()...)
	}
	slices.SortStableFunc(all, func(x, y logLine) int { return x.at.Compare(y.at) })
	w := &logWriter{screen: &screen{out: a.screen.out, err: a.screen.out, ink: wantsColour(a.screen.liveOut)}, json: f.json}
	if err := w.write(all[max(0, len(all)-f.lines):]); err != nil || !f.follow {
		return err
	}
	return w.follow(ctx, logs)
}

// pluginLogs finds the log of the plugin that is meant, or all that there are. One
// that is followed may be still to come.
func (a *app) pluginLogs(names []string, coming bool) ([]*pluginLog, error) {
	dir := a.pluginState()
	if len(names) == 0 {
		paths, err := filepath.Glob(filepath.Join(dir, "logs", "*.log"))
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			names = append(names, strings.TrimSuffix(filepath.Base(path), ".log"))
		}
		if coming {
			for _, p := range a.config.plugins() {
				if !slices.Contains(names, p.Name) {
					names = append(names, p.Name)
				}
			}
		}
		if len(names) == 0 {
			a.screen.line("No plugin has run with the state in " + a.dir + ".")
		}
	} else if path := host.LogFile(dir, names[0]); !coming {
		if _, err := os.Stat(path); err != nil {
			return nil, usagef("plugin %q has no log in %s: it has not run yet, or is no plugin; `%s` lists them", clipped(names[0]), filepath.Dir(path), a.hint("plugin list"))
		}
	}
	var logs []*pluginLog
	for _, name := range names {
		logs = append(logs, &pluginLog{plugin: name, path: host.LogFile(dir, name)})
	}
	return logs, nil
}

const logPoll = 200 * time.Millisecond

// logWriter prints lines of logs.
type logWriter struct {
	*screen
	json bool
}

func (w *logWriter) follow(ctx context.Context, logs []*pluginLog) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(logPoll):
		}
		for _, l := range logs {
			if err := w.write(l.news()); err != nil {
				return err
			}
		}
	}
}

func (w *logWriter) write(lines []logLine) error {
	for _, l := range lines {
		if !w.json {
			w.line(l.text(w.ink))
			continue
		}
		encoder := jsonTo(w.out)
		if err := encoder.Encode(l.fields()); err != nil {
			return err
		}
	}
	return nil
}

// logLine is a line of a plugin's log, safe to show.
type logLine struct {
	plugin, level, msg string
	at                 time.Time
	more               map[string]string
}

// parseLine reads a line as a host wrote it; any other is shown as it is.
func parseLine(plugin, line string) logLine {
	l := logLine{plugin: plugin, level: "INFO", more: map[string]string{}}
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal([]byte(line), &fields); err != nil {
		l.msg = printable(line, false)
		return l
	}
	for key, raw := range fields {
		text := string(raw)
		if unquoted := ""; json.Unmarshal(raw, &unquoted) == nil {
			text = unquoted
		}
		switch key {
		case "time":
			l.at, _ = time.Parse(time.RFC3339Nano, text)
		case "level":
			l.level = oneLine(text)
		case "msg":
			l.msg = printable(text, false)
		case "plugin":
		default:
			l.more[oneLine(key)] = printable(text, false)
		}
	}
	return l
}

func (l *logLine) text(ink ink) string {
	level := fmt.Sprintf("%-5s", words.Clip(l.level, 8)) //nolint:mnd // the longest of slog's, with an offset
	switch {
	case strings.HasPrefix(l.level, "ERROR"):
		level = ink.red(level)
	case strings.HasPrefix(l.level, "WARN"):
		level = ink.amber(level)
	}
	text := ink.dim(l.at.Local().Format(time.DateTime)) + " " + level + " " + ink.bold(oneLine(l.plugin)) + ": " + l.msg
	for _, key := range slices.Sorted(maps.Keys(l.more)) {
		if value := l.more[key]; value != "" {
			text += ink.dim(" " + key + "=" + shellQuote(value))
		}
	}
	return text
}

func (l *logLine) fields() map[string]any {
	fields := map[string]any{"plugin": l.plugin, "level": l.level, "msg": l.msg}
	if !l.at.IsZero() {
		fields["time"] = l.at
	}
	for key, value := range l.more {
		if _, taken := fields[key]; !taken {
			fields[key] = value
		}
	}
	return fields
}

func closeLogs(logs []*pluginLog) {
	for _, l := range logs {
		if l.file != nil {
			_ = l.file.Close()
		}
	}
}
