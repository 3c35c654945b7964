package devtools

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/internal/terminal"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/sdk/conformance"
	"github.com/mulligan-run/mulligan/show"
)

// The columns of a page of results.
const (
	conformName = 40 // of a name that stands alone
	conformKind = 20 // of a name that is followed by answers
	conformPad  = "      "
	conformWord = 10 // of what is expected, got, to do
)

// Heading says what is being tested.
func (n *ExamNote) Heading(command []string) {
	n.say(n.outInk().Bold(commandLine(command)))
}

// topics says what each part is about.
var topics = map[string]string{
	conformance.TopicProcess:   "Process",
	conformance.TopicFailures:  "Failures: at the first attempt · at the third · with nothing left · with everything set",
	conformance.TopicOccasions: "Occasions: what else it offers to be asked about",
	conformance.TopicHostile:   "Hostile",
	conformance.TopicBounds:    "Bounds",
}

func (n *ExamNote) say(line string) { fmt.Fprintln(n.Out, line) }

// outInk colours what goes to stdout, by whether that is a terminal.
func (n *ExamNote) outInk() show.Ink { return show.Colour(n.LiveOut) }

// Result prints one result.
func (n *ExamNote) Result(r conformance.Result) {
	n.count(r)
	ink := n.outInk()
	if r.Topic != n.topic {
		n.topic = r.Topic
		n.say("")
		n.say(ink.Bold(topics[r.Topic]))
	}
	switch {
	case r.Err != nil:
		n.failure(r)
	case r.Skipped != "":
		n.say("  " + ink.Amber("- "+r.Name) + ": " + terminal.OneLine(r.Skipped))
	case len(r.Answers) > 1:
		n.say("  " + ink.Green("✓ ") + padded(r.Name, conformKind) + n.answers(r))
	default:
		n.say("  " + ink.Green("✓ ") + strings.TrimRight(padded(r.Name, conformName)+ink.Dim(spellTook(r.Took)), " "))
	}
	n.details(r)
}

// failure explains a failed result once; later ones with the same cause refer to it.
func (n *ExamNote) failure(r conformance.Result) {
	ink, got := n.outInk(), r.Err.Error()
	if got == n.failedWith {
		n.say("  " + ink.Red("✗ "+padded(r.Name, conformKind)) + "the same as " + n.failedAt)
		return
	}
	n.failedWith, n.failedAt = got, r.Name
	n.say("  " + ink.Red("✗ "+r.Name))
	n.explain("expected", r.Demand)
	n.explain("got", got)
	n.explain("to do", r.Advice)
}

// answers is a short form of what a plugin answered to a failure in all circumstances.
func (n *ExamNote) answers(r conformance.Result) string {
	if r.Name == recovery.HookRunEnded { // it is told, and has nothing to say
		return "heard"
	}
	var said []string
	for _, a := range r.Answers {
		said = append(said, terminal.OneLine(tellShort(a.Vote)))
	}
	if len(slices.Compact(slices.Clone(said))) == 1 {
		return said[0]
	}
	return strings.Join(said, " · ")
}

// tellShort is a vote in a word or two, because four of them are on a line.
func tellShort(v recovery.Vote) string {
	text := string(v.Action)
	switch v.Action {
	case recovery.ActionNone:
		return "no opinion"
	case recovery.ActionSwitchModel, recovery.ActionRoute:
		text = "→ " + v.NewModel
	case recovery.ActionRetry, recovery.ActionFail:
	}
	if v.Delay > 0 {
		text += " " + words.Duration(v.Delay.Duration())
	}
	return text
}

// details are the single answers, if they are wanted, with remarks on them.
func (n *ExamNote) details(r conformance.Result) {
	noted := map[string]bool{}
	for _, a := range r.Answers {
		if n.Verbose {
			text := a.Shape + ": " + show.TellAction(a.Vote.Action, a.Vote.NewModel, a.Vote.Delay)
			if a.Vote.Reason != "" {
				text += " (" + a.Vote.Reason + ")"
			}
			n.say(n.outInk().Dim(conformPad + show.Excerpt(text) + ", " + spellShort(a.Took)))
		}
		if a.Note != "" && !noted[a.Note] {
			noted[a.Note] = true
			n.say(n.outInk().Amber(conformPad + "! " + show.Excerpt(a.Note)))
		}
	}
}

func (n *ExamNote) explain(what, text string) {
	if text == "" {
		return
	}
	const most = 1000
	text = terminal.OneLine(text)
	if r := []rune(text); len(r) > most {
		text = string(r[:most]) + "…"
	}
	under := conformPad + strings.Repeat(" ", conformWord)
	wrapped := show.Indent(ansi.Wordwrap(text, show.PageWidth-len(under), ""), under)
	n.say(conformPad + n.outInk().Dim(padded(what, conformWord)) + strings.TrimPrefix(wrapped, under))
}

func padded(text string, width int) string {
	return text + strings.Repeat(" ", max(width-ansi.StringWidth(text), 1))
}

// spellTook is "" for a negligible duration.
func spellTook(d time.Duration) string {
	if d < time.Millisecond {
		return ""
	}
	return spellShort(d)
}

// Summary prints the summary of all results, and how the plugin performed.
func (n *ExamNote) Summary(p conformance.Portrait) {
	ink := n.outInk()
	n.say("")
	if t := p.Timing; t != nil {
		n.say(fmt.Sprintf("Cold start %s to %s · an answer takes %s, p99 %s (%s)",
			spellShort(t.ColdStarts[0]), spellShort(t.ColdStarts[len(t.ColdStarts)-1]), spellShort(t.P50), spellShort(t.P99), show.Plural(t.Calls, "call", "calls")))
	}
	text := fmt.Sprintf("%d passed", n.Passed)
	if n.Skipped > 0 {
		text += fmt.Sprintf(", %d skipped", n.Skipped)
	}
	if n.Failed > 0 {
		text = ink.Red(fmt.Sprintf("%d failed", n.Failed)) + ", " + text
	}
	if p.Name+p.Version != "" {
		text = terminal.OneLine(strings.TrimSpace(p.Name+" "+p.Version)) + ": " + text
	}
	n.say(ink.Bold(text) + fmt.Sprintf(" in %s", spellShort(time.Since(n.Began))))
}

// ExamNote prints the results of an exam, as a page or as JSON lines.
type ExamNote struct {
	*show.Screen
	Verbose                 bool
	Began                   time.Time
	topic                   string // the last one announced
	failedWith, failedAt    string // the last failure's text, and the result that had it
	Passed, Failed, Skipped int
	err                     error // of the first line that could not be written
}

func (n *ExamNote) count(r conformance.Result) {
	switch {
	case r.Skipped != "" && r.Err == nil:
		n.Skipped++
	case r.Err != nil:
		n.Failed++
	default:
		n.Passed++
	}
}

// commandLine is a command in a shell's syntax.
func commandLine(args []string) string {
	var words []string
	for _, arg := range args {
		words = append(words, show.ShellQuote(terminal.OneLine(arg)))
	}
	return strings.Join(words, " ")
}

// spellShort is a duration as a page of results has it: "0.41 s", "3 ms".
func spellShort(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return fmt.Sprintf("%.1f ms", millis(d))
	case d < 100*time.Millisecond:
		return fmt.Sprintf("%.0f ms", millis(d))
	}
	return fmt.Sprintf("%.2f s", d.Seconds())
}
