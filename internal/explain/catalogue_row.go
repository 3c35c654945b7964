package explain

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/faultlab/catalogue"
	"github.com/mulligan-run/mulligan/internal/terminal"
	"github.com/mulligan-run/mulligan/show"
)

// FindFault finds a row with all of its scripts, or with those of one variant.
func FindFault(name string) (catalogue.Row, []catalogue.Script, error) {
	id, variant, _ := strings.Cut(name, "-")
	row, known := catalogue.Find(strings.ToUpper(id))
	if !known {
		return row, nil, fmt.Errorf("there is no fault %q; `%s faults list` lists them", show.Clipped(name), show.Invoked())
	}
	if variant == "" {
		return row, row.Scripts(), nil
	}
	scripts := catalogue.Scripts(row.ID + "-" + variant)
	if len(scripts) == 0 {
		return row, nil, fmt.Errorf("%s has no variant %q; `%s faults show %s` shows those it has", row.ID, show.Clipped(variant), show.Invoked(), row.ID)
	}
	return row, scripts, nil
}

// ShowFault prints everything about a row: what it is, what to do, and the bytes of each of
// its scripts.
func ShowFault(n *Note, row catalogue.Row, scripts []catalogue.Script) error {
	name := row.ID
	if len(scripts) > 0 {
		name = scripts[0].Name()
	}
	n.paragraph(name+" · "+strings.Trim(row.Class, "()"), n.ink.Bold)
	n.heading("What it is")
	n.row("whose", providerOf(row), plain)
	n.row("when", row.When, plain)
	for _, part := range [][2]string{{"status", row.Status}, {"headers", row.Headers}, {"body", row.Body}} {
		if part[1] != "-" {
			n.row(part[0], part[1], plain)
		}
	}
	n.row("known from", row.Source, plain)
	n.heading("What a client should do")
	n.row("retryable", strings.Trim(row.Retryable, "()"), plain)
	n.row("right", row.RightAction, plain)
	for _, group := range byName(scripts) {
		if err := showScripts(n, row, group); err != nil {
			return err
		}
	}
	showTry(n, scripts)
	return nil
}

// byName groups scripts by name, in order.
func byName(scripts []catalogue.Script) [][]catalogue.Script {
	var groups [][]catalogue.Script
	for _, s := range scripts {
		if last := len(groups) - 1; last >= 0 && groups[last][0].Name() == s.Name() {
			groups[last] = append(groups[last], s)
			continue
		}
		groups = append(groups, []catalogue.Script{s})
	}
	return groups
}

// showScripts prints the scripts of one name, with one section for equal bytes.
func showScripts(n *Note, row catalogue.Row, scripts []catalogue.Script) error {
	first := scripts[0]
	suffix := ""
	if first.Variant != "" {
		suffix = ", variant " + first.Variant
	}
	n.heading("What Mulligan makes of it" + suffix)
	if err := showExpected(n, row, first.Expect); err != nil {
		return err
	}
	if first.Wire == "" {
		n.heading("What plays it" + suffix)
		n.row("not HTTP", below(first), plain)
		return nil
	}
	for len(scripts) > 0 {
		text := scripts[0].String()
		var wires []string
		for len(scripts) > 0 && scripts[0].String() == text {
			wires = append(wires, scripts[0].Wire)
			scripts = scripts[1:]
		}
		n.heading("What is sent on " + strings.Join(wires, ", ") + suffix)
		showBytes(n.w, text)
	}
	return nil
}

func below(s catalogue.Script) string {
	if s.Client != "" {
		return "no server can play it: " + s.Client
	}
	return "it happens below HTTP: the broken transport " + s.Transport
}

// showBytes prints a section unwrapped, with unprintable characters replaced.
func showBytes(w io.Writer, text string) {
	for line := range strings.Lines(strings.TrimRight(text, "\n")) {
		fmt.Fprintln(w, strings.TrimRight(strings.Repeat(" ", noteIndent)+terminal.Printable(line, true), "\n "))
	}
}

// showExpected says what every adapter must make of the script, with the resulting words
// and advice.
func showExpected(n *Note, row catalogue.Row, e catalogue.Expectation) error {
	if e.Answer {
		n.row("kind", "no failure: the run goes on", n.ink.Green)
		n.noteOf(e)
		return nil
	}
	f := expected(row, e)
	n.row("kind", string(f.Kind), n.ink.Cyan)
	word, dress := n.retryable(f)
	n.row("retryable", word, dress)
	if e.Wait != nil || !e.ResetsAt.IsZero() {
		n.row("wait", waitOf(f), plain)
	}
	n.row("says", f.Title+". "+f.Message, plain)
	n.noteOf(e)
	alone, err := treat(*f, time.Now())
	if err != nil {
		return err
	}
	n.row("auto-recover", "at first, without a fallback: "+alone.String(), plain)
	return nil
}

// noteOf says why something differs from the row.
func (n *Note) noteOf(e catalogue.Expectation) {
	if e.Note != "" {
		n.row("note", e.Note, n.ink.Dim)
	}
}

// phases are the catalogue's words for when a fault shows.
var phases = map[string]failure.Phase{
	"before-connect": failure.PhaseBeforeConnect, "before-headers": failure.PhaseBeforeFirstEvent, "headers": failure.PhaseBeforeFirstEvent,
	"before-first-token": failure.PhaseBeforeFirstEvent, "mid-stream": failure.PhaseMidStream, "end-of-stream": failure.PhaseEndOfStream,
}

// expected is the failure that a script must result in.
func expected(row catalogue.Row, e catalogue.Expectation) *failure.Failure {
	f := failure.NewFailure(failure.Kind(e.Kind), failure.OriginModel, phases[row.When], nil)
	f.Provider = providerOf(row)
	if row.Provider == "*" {
		f.Provider = "the provider"
	}
	f.Model = providerOf(row) + "/a-model"
	if e.Retryable != nil {
		f.Retryable = *e.Retryable
	}
	if e.Wait != nil {
		f.RetryAfter = failure.InMillis(*e.Wait)
	}
	f.ResetsAt = e.ResetsAt
	f.Describe(failure.Words{})
	return f
}

// showTry says how to see it happen.
func showTry(n *Note, scripts []catalogue.Script) {
	how := ""
	for _, s := range scripts {
		switch {
		case how != "":
		case s.Wire != "":
			how = " --row " + s.Name()
		case s.Transport != "":
			how = " --transports"
		}
	}
	if how != "" {
		n.heading("See it happen")
		fmt.Fprintf(n.w, "%*s%s\n", noteIndent, "", n.ink.Cyan(show.Invoked()+" faults serve"+how))
	}
}
