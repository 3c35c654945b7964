package explain

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"

	"github.com/mulligan-run/mulligan/config"
	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/internal/terminal"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/show"
)

// Explained is everything said about a failure.
type Explained struct {
	failure.Diagnosis
	alone, beside treatment      // without and with another model to switch to
	Lesson        *config.Lesson // nil = nothing was to be learned or forgotten
}

// Explain explains a report without using a clock or chance, so that the result can be
// reproduced.
func Explain(r *Report, at time.Time, rows *failure.Local) (Explained, error) {
	x := Explained{Diagnosis: rows.Diagnose(r.Evidence(at))}
	var err error
	if x.alone, err = treat(*x.Failure, at); err != nil {
		return x, err
	}
	x.beside, err = treat(*x.Failure, at, recovery.Alternative{Model: otherModel, ContextTokens: 1 << 40})
	return x, err
}

// explainedJSON is explained as --json prints it.
type explainedJSON struct {
	failure.Diagnosis
	AutoRecover adviceJSON     `json:"autoRecover"`
	Learned     *config.Lesson `json:"learned,omitempty"`
}

type adviceJSON struct {
	treatmentJSON
	WithAlternative treatmentJSON `json:"withAlternative"`
}

type treatmentJSON struct {
	Action    recovery.Action `json:"action"`
	DelayMs   failure.Millis  `json:"delayMs"`
	NewModel  string          `json:"newModel,omitempty"`
	Reason    string          `json:"reason"`
	BlockedBy string          `json:"blockedBy,omitempty"` // because of this it is only offered
}

func (t treatment) json() treatmentJSON {
	return treatmentJSON{t.Action, t.Delay, t.NewModel, t.Reason, t.BlockedBy}
}

// WriteJSON writes it as one line of JSON.
func (x *Explained) WriteJSON(w io.Writer) error {
	encoder := show.JSON(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(explainedJSON{x.Diagnosis, adviceJSON{x.alone.json(), x.beside.json()}, x.Lesson})
}

// The shape of a note, in columns.
const (
	noteWidth  = 80
	noteLabel  = 13 // a label and the space after it
	noteIndent = 2
)

// Note writes for people: headings, and under them labelled lines.
type Note struct {
	w     io.Writer
	ink   show.Ink
	width int
}

// NewNote makes a page on w, in colour if w is a terminal with colour.
func NewNote(w io.Writer) *Note {
	n := &Note{w: w, ink: show.Colour(show.IsTerminal(w)), width: noteWidth}
	if f, ok := w.(*os.File); ok {
		if width, _, err := term.GetSize(f.Fd()); err == nil && width >= 40 {
			n.width = min(width, noteWidth)
		}
	}
	return n
}

func (n *Note) lines(text string, indent int, dress func(string) string) string {
	wrapped := strings.Split(ansi.Wrap(terminal.OneLine(text), n.width-indent, ""), "\n")
	for i, line := range wrapped {
		wrapped[i] = dress(strings.TrimSpace(line))
	}
	return strings.Join(wrapped, "\n"+strings.Repeat(" ", indent))
}

func (n *Note) paragraph(text string, dress func(string) string) {
	fmt.Fprintln(n.w, n.lines(text, 0, dress))
}

func (n *Note) heading(text string) { fmt.Fprintf(n.w, "\n%s\n", n.ink.Bold(text)) }

func (n *Note) row(label, text string, dress func(string) string) {
	label = fmt.Sprintf("%-*s", noteLabel, label)
	fmt.Fprintf(n.w, "%*s%s%s\n", noteIndent, "", n.ink.Dim(label), n.lines(text, noteIndent+noteLabel, dress))
}

func plain(text string) string { return text }

// WriteNote writes it as a page.
func (x *Explained) WriteNote(n *Note) {
	f := x.Failure
	n.paragraph(f.Title, n.ink.Bold)
	if f.Message != "" {
		n.paragraph(f.Message, plain)
	}
	n.heading("Diagnosis")
	n.row("kind", strings.TrimSuffix(string(f.Kind)+" · "+f.Variant, " · "), n.ink.Cyan)
	n.row("code", string(f.Code), plain)
	retry, dress := n.retryable(f)
	n.row("retryable", retry, dress)
	n.row("wait", waitOf(f), plain)
	n.row("confidence", confidenceOf(x.Confidence), plain)
	if other := x.RunnerUp; other != nil {
		n.row("runner-up", fmt.Sprintf("%s, by %s (%s)", other.Kind, other.By, confidenceOf(other.Confidence)), n.ink.Dim)
	}
	n.heading("Evidence")
	for _, c := range x.Evidence {
		n.row(clueLabel(c), c.String(), plain)
	}
	n.heading("What auto-recover does at a run's first failure")
	if x.alone.String() == x.beside.String() && x.alone.Reason == x.beside.Reason {
		n.treatment("always", x.alone)
	} else {
		n.treatment("no fallback", x.alone)
		n.treatment("a fallback", x.beside)
	}
	if x.Lesson != nil {
		n.lesson(x.Lesson)
		return
	}
	fmt.Fprintln(n.w)
	n.paragraph("Wrong? Add --learn KIND, and it is of that kind here from now on. And put the output of this with --json into an issue, so that it becomes right for all: it holds no key, but it may hold the provider's words.", n.ink.Dim)
}

func (n *Note) treatment(label string, t treatment) {
	n.row(label, t.String(), plain)
	if t.Reason != "" {
		_, name, _ := strings.Cut(otherModel, "/")
		n.row("", strings.ReplaceAll(t.Reason, name, "the fallback"), n.ink.Dim)
	}
}

func (n *Note) retryable(f *failure.Failure) (string, func(string) string) {
	switch word := retryWord(f); {
	case word == "no" && !f.ResetsAt.IsZero():
		return "not before " + clockOf(f.ResetsAt), n.ink.Amber
	case word == "no":
		return word, n.ink.Red
	case word == "once":
		return word, n.ink.Amber
	default:
		return word, n.ink.Green
	}
}

// retryWord says whether the same input may succeed later: yes, no, or once.
func retryWord(f *failure.Failure) string {
	switch {
	case !f.Retryable:
		return "no"
	case f.Kind.Once():
		return "once"
	}
	return "yes"
}

func waitOf(f *failure.Failure) string {
	switch {
	case f.RetryAfter > 0:
		return words.Duration(f.RetryAfter.Duration()) + ", as the provider asks"
	case !f.ResetsAt.IsZero():
		return "until " + clockOf(f.ResetsAt)
	}
	return "none asked for"
}

// confidenceOf says how many of a hundred unseen failures recognised in this way really were
// of this kind.
func confidenceOf(percent int) string {
	if percent == 0 {
		return "none: nothing about it is known"
	}
	return fmt.Sprintf("%d %%", percent)
}

func clockOf(t time.Time) string { return t.UTC().Format("15:04 MST on January 2") }

func clueLabel(c failure.Clue) string {
	switch {
	case c.Source == failure.ClueNothing:
		return "found"
	case c.Note == failure.NoteVariant:
		return "more exactly"
	case c.Note == failure.NoteRetryable:
		return "the retry"
	case c.Note == failure.NoteWait:
		return "the wait"
	case c.Decided:
		return "decided it"
	case c.Note == failure.NoteOverruled:
		return "overruled"
	}
	return "also seen"
}

// lesson prints what was learned or forgotten.
func (n *Note) lesson(l *config.Lesson) {
	heading, row := "Learned", "the row"
	if l.Forgotten {
		heading, row = "Forgotten", "it was"
	}
	n.heading(heading)
	if l.Row == "" {
		n.row("nothing", "it is "+string(l.Before)+" already", plain)
		return
	}
	n.row("before", string(l.Before), plain)
	n.row("now", string(l.After), n.ink.Cyan)
	n.row(row, l.Row, plain)
	n.row("in", l.File, plain)
	if l.Warning != "" {
		n.row("take care", l.Warning, n.ink.Amber)
	}
	if !l.Forgotten {
		n.row("undo", "--forget with the same input, or delete the row", plain)
	}
}
