package devtools

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

	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/host"
	"github.com/mulligan-run/mulligan/internal/exit"
	"github.com/mulligan-run/mulligan/internal/terminal"
	"github.com/mulligan-run/mulligan/server"
	"github.com/mulligan-run/mulligan/show"
)

// PluginLogs finds the logs of the named plugins, or of all. With coming, a log need
// not exist yet.
func PluginLogs(srv *server.Server, names []string, coming bool) ([]*LogFile, error) {
	dir := srv.PluginState()
	if len(names) == 0 {
		paths, err := filepath.Glob(filepath.Join(dir, "logs", "*.log"))
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			names = append(names, strings.TrimSuffix(filepath.Base(path), ".log"))
		}
		if coming {
			for _, p := range srv.Config.AskedPlugins() {
				if !slices.Contains(names, p.Name) {
					names = append(names, p.Name)
				}
			}
		}
		if len(names) == 0 {
			srv.Screen.Line("No plugin has run with the state in " + srv.Dir + ".")
		}
	} else if path := host.LogFile(dir, names[0]); !coming {
		if _, err := os.Stat(path); err != nil {
			return nil, exit.Usagef("plugin %q has no log in %s: it has not run yet, or is not a plugin; `%s` lists them", show.Clipped(names[0]), filepath.Dir(path), srv.Screen.Hint("plugin list"))
		}
	}
	var logs []*LogFile
	for _, name := range names {
		logs = append(logs, &LogFile{plugin: name, path: host.LogFile(dir, name)})
	}
	return logs, nil
}

const logPoll = 200 * time.Millisecond

// LogWriter prints lines of logs.
type LogWriter struct {
	*show.Screen
	JSON bool
}

// Follow prints new lines until ctx ends.
func (w *LogWriter) Follow(ctx context.Context, logs []*LogFile) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(logPoll):
		}
		for _, l := range logs {
			if err := w.Write(l.news()); err != nil {
				return err
			}
		}
	}
}

func (w *LogWriter) Write(lines []LogLine) error {
	for _, l := range lines {
		if !w.JSON {
			w.Line(l.text(w.Ink))
			continue
		}
		encoder := show.JSON(w.Out)
		if err := encoder.Encode(l.fields()); err != nil {
			return err
		}
	}
	return nil
}

// LogLine is a line of a plugin's log, safe to show.
type LogLine struct {
	plugin, level, msg string
	At                 time.Time
	more               map[string]string
}

// parseLine reads a line as a host wrote it; any other is shown as it is.
func parseLine(plugin, line string) LogLine {
	l := LogLine{plugin: plugin, level: "INFO", more: map[string]string{}}
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal([]byte(line), &fields); err != nil {
		l.msg = terminal.Printable(line, false)
		return l
	}
	for key, raw := range fields {
		text := string(raw)
		if unquoted := ""; json.Unmarshal(raw, &unquoted) == nil {
			text = unquoted
		}
		switch key {
		case "time":
			l.At, _ = time.Parse(time.RFC3339Nano, text)
		case "level":
			l.level = terminal.OneLine(text)
		case "msg":
			l.msg = terminal.Printable(text, false)
		case "plugin":
		default:
			l.more[terminal.OneLine(key)] = terminal.Printable(text, false)
		}
	}
	return l
}

func (l *LogLine) text(ink show.Ink) string {
	level := fmt.Sprintf("%-5s", words.Clip(l.level, 8)) //nolint:mnd // the longest of slog's, with an offset
	switch {
	case strings.HasPrefix(l.level, "ERROR"):
		level = ink.Red(level)
	case strings.HasPrefix(l.level, "WARN"):
		level = ink.Amber(level)
	}
	text := ink.Dim(l.At.Local().Format(time.DateTime)) + " " + level + " " + ink.Bold(terminal.OneLine(l.plugin)) + ": " + l.msg
	for _, key := range slices.Sorted(maps.Keys(l.more)) {
		if value := l.more[key]; value != "" {
			text += ink.Dim(" " + key + "=" + show.ShellQuote(value))
		}
	}
	return text
}

func (l *LogLine) fields() map[string]any {
	fields := map[string]any{"plugin": l.plugin, "level": l.level, "msg": l.msg}
	if !l.At.IsZero() {
		fields["time"] = l.At
	}
	for key, value := range l.more {
		if _, taken := fields[key]; !taken {
			fields[key] = value
		}
	}
	return fields
}

// CloseLogs closes the opened files.
func CloseLogs(logs []*LogFile) {
	for _, l := range logs {
		if l.file != nil {
			_ = l.file.Close()
		}
	}
}
