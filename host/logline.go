package host

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
)

// What a log keeps of one line of a plugin's, in bytes.
const (
	maxLogged = 8 << 10 // of its message
	maxMore   = 1 << 10 // of its further keys together
	maxID     = 100     // of the ids of a run and a session
)

// logLine is a line of a plugin's standard error, safe to show.
type logLine struct {
	level        slog.Level
	message      string
	run, session string
	more         string // the further keys of a JSON line, as JSON
}

var levels = map[string]slog.Level{
	"trace": slog.LevelDebug - 4, "debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError,
}

// parseLogLine reads a line of any kind. One that is a JSON object with a @message has
// a level and a run, too: they are what the plugin says, no more.
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
	l.level = levels[strings.ToLower(take(keys, "@level"))] // info, where it is none of them
	l.run, l.session = take(keys, "run"), take(keys, "session")
	delete(keys, "@message")
	delete(keys, "@timestamp") // the host has a clock of its own
	if len(keys) > 0 {
		more, _ := json.Marshal(keys)
		l.more = printable(string(more), maxMore)
	}
	return l, true
}

// take removes a key and gives its value, "" where that is no text.
func take(keys map[string]json.RawMessage, key string) string {
	var text string
	if raw, ok := keys[key]; ok && json.Unmarshal(raw, &text) == nil {
		delete(keys, key)
	}
	return printable(text, maxID)
}

// attributes are what a log has beside the message.
func (l logLine) attributes() []slog.Attr {
	var all []slog.Attr
	for _, a := range []slog.Attr{slog.String("run", l.run), slog.String("session", l.session), slog.String("more", l.more)} {
		if a.Value.String() != "" {
			all = append(all, a)
		}
	}
	return all
}
