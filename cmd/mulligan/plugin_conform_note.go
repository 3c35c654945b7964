package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/sdk/conformance"
)

// A page of results has these columns.
const (
	conformName = 40 // of a name that stands alone
	conformKind = 20 // of a name that its answers follow
	conformPad  = "      "
	conformWord = 10 // of what is expected, got, to do
)

func (n *conformNote) heading(command []string) {
	n.say(n.outInk().bold(commandLine(command)))
}

// topics says what each part is about.
var topics = map[string]string{
	conformance.TopicProcess:  "Process",
	conformance.TopicFailures: "Failures: at the first attempt · at the third · with nothing left · with everything set",
	conformance.TopicHostile:  "Hostile",
	conformance.TopicBounds:   "Bounds",
}

func (n *conformNote) say(line string) { fmt.Fprintln(n.out, line) }

// outInk colours what goes to stdout, by whether that is a terminal.
func (n *conformNote) outInk() ink { return wantsColour(n.liveOut) }

// result tells one result.
func (n *conformNote) result(r conformance.Result) {
	n.count(r)
	ink := n.outInk()
	if r.Topic != n.topic {
		n.topic = r.Topic
		n.say("")
		n.say(ink.bold(topics[r.Topic]))
	}
	switch {
	case r.Err != nil:
		n.failure(r)
	case r.Skipped != "":
		n.say("  " + ink.amber("- "+r.Name) + ": " + oneLine(r.Skipped))
	case len(r.Answers) > 1:
		n.say("  " + ink.green("✓ ") + padded(r.Name, conformKind) + n.answers(r.Answers))
	default:
		n.say("  " + ink.green("✓ ") + strings.TrimRight(padded(r.Name, conformName)+ink.dim(spellTook(r.Took)), " "))
	}
	n.details(r)
}

// failure explains a result once: others that come to the same refer to it.
func (n *conformNote) failure(r conformance.Result) {
	ink, got := n.outInk(), r.Err.Error()
	if got == n.failedWith {
		n.say("  " + ink.red("✗ "+padded(r.Name, conformKind)) + "the same as " + n.failedAt)
		return
	}
	n.failedWith, n.failedAt = got, r.Name
	n.say("  " + ink.red("✗ "+r.Name))
	n.explain("expected", r.Demand)
	n.explain("got", got)
	n.explain("to do", r.Advice)
}

// answers is what a plugin said to a failure in all its circumstances, in short.
func (n *conformNote) answers(list []conformance.Answer) string {
	var said []string
	for _, a := range list {
		said = append(said, oneLine(tellShort(a.Vote)))
	}
	if len(slices.Compact(slices.Clone(said))) == 1 {
		return said[0]
	}
	return strings.Join(said, " · ")
}

// tellShort is a vote in a word or two: four of them stand on a line.
func tellShort(v recovery.Vote) string {
	text := string(v.Action)
	switch v.Action {
	case recovery.ActionNone:
		return "no opinion"
	case recovery.ActionSwitchModel:
		text = "→ " + v.NewModel
	}
	if v.Delay > 0 {
		text += " " + words.Spell(v.Delay.Duration())
	}
	return text
}

// details are the answers one by one, if they are wanted, and what is to be said about them.
func (n *conformNote) details(r conformance.Result) {
	noted := map[string]bool{}
	for _, a := range r.Answers {
		if n.verbose {
			text := a.Shape + ": " + tellAction(a.Vote.Action, a.Vote.NewModel, a.Vote.Delay)
			if a.Vote.Reason != "" {
				text += " (" + a.Vote.Reason + ")"
			}
			n.say(n.outInk().dim(conformPad + excerpt(text) + ", " + spellShort(a.Took)))
		}
		if a.Note != "" && !noted[a.Note] {
			noted[a.Note] = true
			n.say(n.outInk().amber(conformPad + "! " + excerpt(a.Note)))
		}
	}
}

func (n *conformNote) explain(what, text string) {
	if text == "" {
		return
	}
	const most = 1000
	text = oneLine(text)
	if r := []rune(text); len(r) > most {
		text = string(r[:most]) + "…"
	}
	under := conformPad + strings.Repeat(" ", conformWord)
	wrapped := indent(ansi.Wordwrap(text, pageWidth-len(under), ""), under)
	n.say(conformPad + n.outInk().dim(padded(what, conformWord)) + strings.TrimPrefix(wrapped, under))
}

func padded(text string, width int) string {
	return text + strings.Repeat(" ", max(width-ansi.StringWidth(text), 1))
}

// spellTook leaves out what took no time to speak of.
func spellTook(d time.Duration) string {
	if d < time.Millisecond {
		return ""
	}
	return spellShort(d)
}

func (n *conformNote) summary(p conformance.Portrait) {
	ink := n.outInk()
	n.say("")
	if t := p.Timing; t != nil {
		n.say(fmt.Sprintf("Cold start %s to %s · an answer takes %s, p99 %s (%s)",
			spellShort(t.ColdStarts[0]), spellShort(t.ColdStarts[len(t.ColdStarts)-1]), spellShort(t.P50), spellShort(t.P99), plural(t.Calls, "call", "calls")))
	}
	text := fmt.Sprintf("%d passed", n.passed)
	if n.skipped > 0 {
		text += fmt.Sprintf(", %d skipped", n.skipped)
	}
	if n.failed > 0 {
		text = ink.red(fmt.Sprintf("%d failed", n.failed)) + ", " + text
	}
	if p.Name+p.Version != "" {
		text = oneLine(strings.TrimSpace(p.Name+" "+p.Version)) + ": " + text
	}
	n.say(ink.bold(text) + fmt.Sprintf(" in %s", spellShort(time.Since(n.began))))
}
