package main

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/config"
	"github.com/mulligan-run/mulligan/internal/devtools"
	"github.com/mulligan-run/mulligan/internal/doubling"
	"github.com/mulligan-run/mulligan/internal/explain"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// keys gives n members of a JSON object.
func keys(n int) string {
	var s strings.Builder
	for i := range n {
		fmt.Fprintf(&s, `"key%d":1,`, i)
	}
	return s.String()
}

// nested are n lists, each within the one before.
func nested(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }

// TestExplainInputOfTwiceTheSize: the cost of explaining a text grows with its length and no
// faster.
func TestExplainInputOfTwiceTheSize(t *testing.T) {
	if testing.Short() {
		t.Skip("measures what large inputs cost")
	}
	for name, paste := range map[string]func(n int) string{
		"unknown keys":      func(n int) string { return `{` + keys(n) + `"error":{"message":"no"}}` },
		"keys of the error": func(n int) string { return `{"error":{` + keys(n) + `"message":"no"}}` },
		"deep":              func(n int) string { return `{"error":` + nested(n) + `}` },
		"deep and unclosed": func(n int) string { return `{"error":` + strings.Repeat(`{"a":[`, n) },
		"JSON in JSON":      func(n int) string { return `{"error":"` + strings.Repeat(`\"{`, n) + `"}` },
		"a long message":    func(n int) string { return strings.Repeat("It did not work. ", n) },
		"a long word":       func(n int) string { return strings.Repeat("x", 16*n) },
		"lines":             func(n int) string { return strings.Repeat("a\n", n) },
		"HTML":              func(n int) string { return "<html>" + strings.Repeat("<p>&amp;", n) },
		"events":            func(n int) string { return strings.Repeat("data: {}\n\n", n) },
		"events after one": func(n int) string {
			return `data: {"error":"` + strings.Repeat("x", n) + "\"}\n\n" + strings.Repeat("data:1\n\n", n)
		},
		"lines of one event":   func(n int) string { return "event: x\n" + strings.Repeat("data:\n", n) },
		"heads":                func(n int) string { return strings.Repeat("HTTP/1.1 100 Continue\n\n", n) },
		"headers":              func(n int) string { return "HTTP/1.1 400 Bad\n" + strings.Repeat("a: b\n", n) + "\n" },
		"escapes and percents": func(n int) string { return strings.Repeat(`\u0041%41&#65;`, n) },
	} {
		t.Run(name, func(t *testing.T) {
			doubling.Check(t, 3000, func(n int) func() {
				text := paste(n)
				return func() {
					var r explain.Report
					if err := r.Paste(config.Hidden(text)); err != nil {
						return
					}
					x, err := explain.Explain(&r, time.Date(2026, 3, 20, 12, 0, 0, 0, time.UTC), nil)
					if err != nil {
						t.Fatal(err)
					}
					x.WriteNote(explain.NewNote(io.Discard))
				}
			})
		})
	}
}

// TestImportOfTwiceTheSize: the cost of an import grows with its size and no faster.
func TestImportOfTwiceTheSize(t *testing.T) {
	if testing.Short() {
		t.Skip("measures what large inputs cost")
	}
	line := func(seq int, kind, data string) string {
		return fmt.Sprintf(`{"v":1,"run":"r1","seq":%d,"time":"2026-01-02T03:04:05Z","type":%q,"data":{%s}}`+"\n", seq, kind, data)
	}
	started := line(1, "started", `"model":"a/one"`)
	each := func(n int, kind string, data func(i int) string) string {
		var s strings.Builder
		for i := range n {
			s.WriteString(line(i+2, kind, data(i)))
		}
		return s.String()
	}
	for name, export := range map[string]func(n int) string{
		"unknown keys":   func(n int) string { return line(1, "started", keys(n)+`"model":"a/one"`) },
		"unknown events": func(n int) string { return started + each(n, "from_the_future", func(int) string { return `"a":1` }) },
		"claims": func(n int) string {
			return started + each(n, "claimed", func(i int) string { return fmt.Sprint(`"owner":"o","epoch":`, i+1) })
		},
		"notes": func(n int) string { return started + each(n, "noted", func(int) string { return `"text":"x"` }) },
		"attempts": func(n int) string {
			return started + each(n, "began", func(i int) string { return fmt.Sprintf(`"attempt":%d,"model":"a/one"`, i+1) })
		},
		"texts": func(n int) string {
			return started + each(n, "failed", func(int) string { return `"attempt":1,"text":"x"` })
		},
		"answers": func(n int) string {
			return started + each(n, "answered", func(i int) string {
				return fmt.Sprintf(`"attempt":%d,"message":{"role":"assistant","parts":[{"text":"x"}]}`, i+1)
			})
		},
		"cancels":          func(n int) string { return started + each(n, "cancel_requested", func(int) string { return "" }) },
		"a long text":      func(n int) string { return started + line(2, "noted", `"text":"`+strings.Repeat("x", 16*n)+`"`) },
		"deep":             func(n int) string { return started + line(2, "from_the_future", `"a":`+nested(n)) },
		"empty lines":      func(n int) string { return started + strings.Repeat("\n", n) },
		"runs":             func(n int) string { return strings.Repeat(started, n) },
		"what is no event": func(n int) string { return started + strings.Repeat("{", n) },
	} {
		t.Run(name, func(t *testing.T) {
			doubling.Check(t, 2000, func(n int) func() {
				text := fmt.Sprintf(`{"format":%q,"version":%d}`+"\n", devtools.ExportFormat, exportVersion) + export(n)
				return func() {
					i := &importer{in: bufio.NewReader(strings.NewReader(text)), seen: map[string]bool{}}
					_ = i.read(func() error { // what is refused may cost no more than what is taken
						log := timeline.NewMemory()
						if _, err := recovery.Fold(i.run); err != nil {
							return err
						}
						return log.Import(t.Context(), i.run...)
					})
				}
			})
		})
	}
}
