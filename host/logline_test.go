package host

import (
	"log/slog"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestParseLogLine(t *testing.T) {
	for line, want := range map[string]logLine{
		"plain":                {level: slog.LevelInfo, message: "plain"},
		"bell\a \x1b[31mred":   {level: slog.LevelInfo, message: `bell\a \x1b[31mred`},
		"\xff\u202eevil\u0085": {level: slog.LevelInfo, message: "\uFFFD" + `\u202eevil\u0085`},
		`{"@level":"warn","@message":"m","@timestamp":"x","run":"r1","session":"s1","n":1}`: {level: slog.LevelWarn, message: "m", run: "r1", session: "s1", more: `{"n":1}`},
		`{"@level":"ERROR","@message":"m"}`:                                                 {level: slog.LevelError, message: "m"},
		`{"@level":7,"@message":"m","run":{"a":1}}`:                                         {level: slog.LevelInfo, message: "m", more: `{"@level":7,"run":{"a":1}}`},
		`{"@message":42}`:              {level: slog.LevelInfo, message: `{"@message":42}`},
		`{"@message":null}`:            {level: slog.LevelInfo, message: `{"@message":null}`},
		`{"@message":"a\nb\u001b[2J"}`: {level: slog.LevelInfo, message: `a\nb\x1b[2J`},
		`{"@message":"m"} `:            {level: slog.LevelInfo, message: "m"},
		`{"@message":"m"}{`:            {level: slog.LevelInfo, message: `{"@message":"m"}{`},
		`[1]`:                          {level: slog.LevelInfo, message: `[1]`},
		`null`:                         {level: slog.LevelInfo, message: `null`},
		`{"@message":"m","run":"` + strings.Repeat("x", 200) + `"}`: {level: slog.LevelInfo, message: "m", run: strings.Repeat("x", maxID-3) + "…"},
		strings.Repeat("ä", 8<<10):                                  {level: slog.LevelInfo, message: strings.Repeat("ä", (maxLogged-3)/2) + "…"},
	} {
		if got := parseLogLine(line); got != want {
			t.Errorf("%.80q: %+v, want %+v", line, got, want)
		}
	}
}

// PL-7: no line is dangerous, and none is longer than it may be.
func FuzzLogLine(f *testing.F) {
	for _, line := range []string{"plain", `{"@level":"warn","@message":"m","run":"r"}`, `{"@message":42}`, "\x1b]0;x\a", `{"@message":"\u009b2J","a":"\u202e"}`, strings.Repeat("[", 9000)} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		l := parseLogLine(line)
		texts := []string{l.message, l.run, l.session, l.more}
		for n, most := range []int{maxLogged, maxID, maxID, maxMore} {
			if text := texts[n]; len(text) > most || !utf8.ValidString(text) || printable(text, len(text)) != text {
				t.Errorf("%d bytes: %q", len(text), text)
			}
		}
		var log strings.Builder
		s := newStderrLog(slog.New(slog.NewTextHandler(&log, nil)), &lastLines{}, unchanged)
		s.add(line, time.Now())
		if strings.ContainsAny(strings.TrimSuffix(log.String(), "\n"), "\x1b\a\n\x00") {
			t.Errorf("%q", log.String())
		}
	})
}
