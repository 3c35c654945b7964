package host

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
)

// How much of one line of a plugin's a log keeps, in bytes.
const (
	maxLogged = 8 << 10 // of its message
	maxMore   = 1 << 10 // of its other keys together
	maxID     = 100     // of the ids of a run and a session
)

// logLine is a line of a plugin's standard error, made safe to show.
type logLine struct {
	level        slog.Level
	message      string
	run, session string
	more         string // the other keys of a JSON line, as JSON
}

var levels = map[string]slog.Level{
	"trace": slog.LevelDebug - 4, "debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError,
}

// parseLogLine reads a line of any form. A JSON object with a @message may also have a
// level and a run; these are only the plugin's claims.
func parseLogLine(line string) logLine {
	if l, ok := parseJSONLine(line); ok {
		return l
	}
	return logLine{level: slog.LevelInfo, message: printable(line, maxLogged)}
}

func parseJSONLine(line string) (logLine, bool) {
	var keys map[string]json.RawMessage
	if !strings.HasPrefix(line, "{") || json.Unmarshal([]byte(line), &keys) != nil {
		return logLine{}, false
	}
	var message string
	if raw := keys["@message"]; !bytes.HasPrefix(raw, []byte{'"'}) || json.Unmarshal(raw, &message) != nil {
		return logLine{}, false
	}
	l := logLine{message: printable(message, maxLogged)}
	l.level = levels[strings.ToLower(take(keys, "@level"))] // info, if it is none of them
	l.run, l.session = take(keys, "run"), take(keys, "session")
	delete(keys, "@message")
	delete(keys, "@timestamp") // the host has its own clock
	if len(keys) > 0 {
		more, _ := json.Marshal(keys)
		l.more = printable(string(more), maxMore)
	}
	return l, true
}

// take removes a key and returns its value, "" if it is not a string.
func take(keys map[string]json.RawMessage, key string) string {
	var text string
	if raw, ok := keys[key]; ok && json.Unmarshal(raw, &text) == nil {
		delete(keys, key)
	}
	return printable(text, maxID)
}

// attributes are what a log entry has besides the message.
func (l logLine) attributes() []slog.Attr {
	var all []slog.Attr
	for _, a := range []slog.Attr{slog.String("run", l.run), slog.String("session", l.session), slog.String("more", l.more)} {
		if a.Value.String() != "" {
			all = append(all, a)
		}
	}
	return all
}
