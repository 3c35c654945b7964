package explain

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/faultlab/catalogue"
	"github.com/mulligan-run/mulligan/internal/terminal"
	"github.com/mulligan-run/mulligan/show"
)

// RowFilter chooses rows of the catalogue; an empty field matches all.
type RowFilter struct {
	Kind, Provider, Wire string
}

// Rows are the rows that match.
func (f RowFilter) Rows() ([]catalogue.Row, error) {
	for _, check := range []struct {
		what, word string
		known      []string
	}{
		{"kind", f.Kind, RowKinds()}, {"provider", f.Provider, rowProviders()}, {"wire", f.Wire, catalogue.Wires()},
	} {
		if check.word != "" && !slices.Contains(check.known, check.word) {
			return nil, fmt.Errorf("no fault has the %s %q; there are: %s", check.what, show.Clipped(check.word), strings.Join(check.known, ", "))
		}
	}
	var rows []catalogue.Row
	for _, r := range catalogue.Rows() {
		onWire := func(s catalogue.Script) bool { return s.Wire == f.Wire }
		if (f.Kind == "" || f.Kind == kindOf(r)) && (f.Provider == "" || f.Provider == providerOf(r)) &&
			(f.Wire == "" || slices.ContainsFunc(r.Scripts(), onWire)) {
			rows = append(rows, r)
		}
	}
	return rows, nil
}

func kindOf(r catalogue.Row) string {
	if r.Kind == "-" {
		return noKind
	}
	return r.Kind
}

func providerOf(r catalogue.Row) string {
	if r.Provider == "*" {
		return anyProvider
	}
	return r.Provider
}

// RowKinds are the kinds that rows have, in the order of the failure kinds.
func RowKinds() []string {
	order := func(kind string) int {
		if i := slices.Index(failure.Kinds(), failure.Kind(kind)); i >= 0 {
			return i
		}
		return len(failure.Kinds())
	}
	kinds := distinct(kindOf)
	slices.SortStableFunc(kinds, func(a, b string) int { return order(a) - order(b) })
	return kinds
}

func rowProviders() []string {
	providers := distinct(providerOf)
	slices.Sort(providers)
	return providers
}

// distinct are the values of a column, each once.
func distinct(column func(catalogue.Row) string) []string {
	var values []string
	for _, r := range catalogue.Rows() {
		if v := column(r); !slices.Contains(values, v) {
			values = append(values, v)
		}
	}
	return values
}

// ListRows prints rows under their kinds, a line each.
func ListRows(w io.Writer, rows []catalogue.Row) {
	n := NewNote(w)
	for _, kind := range RowKinds() {
		var members []catalogue.Row
		for _, r := range rows {
			if kindOf(r) == kind {
				members = append(members, r)
			}
		}
		if len(members) == 0 {
			continue
		}
		title := kind
		if kind == noKind {
			title = "no failure, or decided by a code, a status or a cause"
		}
		fmt.Fprintf(w, "%s %s\n", n.ink.Bold(title), n.ink.Dim("("+strconv.Itoa(len(members))+")"))
		for _, r := range members {
			listRow(n, r)
		}
		fmt.Fprintln(w)
	}
	n.paragraph(show.Plural(len(rows), "fault", "faults")+`: id, whose, when, retryable, how it is known (M measured, S a client's source, I an issue, D documentation, U and X nothing public), and what.`, n.ink.Dim)
	fmt.Fprintf(w, "One of them fully: %s faults show A23\n", show.Invoked())
}

func listRow(n *Note, r catalogue.Row) {
	head := fmt.Sprintf("  %s  %-10s %-11s %-9s %s  ", r.ID, providerOf(r), shortWhen(r.When), shortRetry(r.Retryable), knownBy(r))
	what := ansi.Truncate(whatOf(r), n.width-ansi.StringWidth(head), "…")
	head = strings.Replace(head, r.ID, n.ink.Cyan(r.ID), 1)
	fmt.Fprintln(n.w, head+what)
}

// shortWhen is when a fault shows, in a word or two.
func shortWhen(when string) string {
	switch when {
	case "before-connect":
		return "connect"
	case "before-headers":
		return "no headers"
	case "before-first-token":
		return "first token"
	case "end-of-stream":
		return "stream end"
	}
	return when
}

// whatOf is a row in a few words: its class where that says more than the kind, and what
// the provider or the transport says.
func whatOf(r catalogue.Row) string {
	var words []string
	if class := strings.Trim(r.Class, "()"); class != r.Kind {
		words = append(words, strings.TrimPrefix(class, r.Kind+"."))
	}
	if said := saidBy(r); said != "" {
		words = append(words, said)
	}
	return terminal.OneLine(strings.Join(words, ": "))
}

// saidBy is a short form of what a row says: the message in its body, or else the body,
// the header, or the status.
func saidBy(r catalogue.Row) string {
	const tooShort = 3 // bytes of a message that is left out in the table
	if m := saidInBody.FindStringSubmatch(strings.ReplaceAll(r.Body, `\"`, `"`)); m != nil && len(m[1]) > tooShort {
		return m[1]
	}
	if said := strings.TrimPrefix(strings.TrimPrefix(r.Body, "SSE: "), "Go: "); !slices.Contains([]string{"-", "(empty)", "(any)"}, said) {
		return said
	}
	switch {
	case r.Headers != "-":
		return strings.ReplaceAll(r.Headers, "; ", ", ")
	case r.Status != "-":
		return "status " + r.Status
	}
	return ""
}

func shortRetry(retryable string) string {
	retryable = strings.Trim(retryable, "()")
	return strings.Replace(retryable, "after_", "", 1)
}

// knownBy is the letter of a row's source.
func knownBy(r catalogue.Row) string {
	letter, _, _ := strings.Cut(strings.TrimPrefix(r.Source, "["), "]")
	return strings.ToUpper(letter[:min(1, len(letter))])
}

// rowJSON is a row as --json prints it.
type rowJSON struct {
	ID          string     `json:"id"`
	Provider    string     `json:"provider"` // "*" = anybody
	Kind        string     `json:"kind"`     // "-" = no failure, or decided by a code, a status or a cause
	Status      string     `json:"status"`
	Headers     string     `json:"headers"`
	Body        string     `json:"body"`
	When        string     `json:"when"`
	Class       string     `json:"class"`
	Retryable   string     `json:"retryable"`
	RightAction string     `json:"rightAction"`
	Source      string     `json:"source"`
	Scripts     []playJSON `json:"scripts"`
}

// playJSON is how a row is played.
type playJSON struct {
	Name      string `json:"name"`                // of the row, or of a variant
	Wire      string `json:"wire,omitempty"`      // "" = not on a wire
	Transport string `json:"transport,omitempty"` // what plays it below HTTP
	Client    string `json:"client,omitempty"`    // why nothing does
	Kind      string `json:"kind"`                // what a client must make of it; "answer" = no failure
	Retryable *bool  `json:"retryable,omitempty"`
	Note      string `json:"note,omitempty"`
}

// WriteRows writes rows as JSON, one a line, with every column.
func WriteRows(w io.Writer, rows []catalogue.Row) error {
	list := []rowJSON{}
	for _, r := range rows {
		row := rowJSON{
			r.ID, r.Provider, r.Kind, r.Status, r.Headers, r.Body, r.When, r.Class, r.Retryable, r.RightAction, r.Source, []playJSON{},
		}
		for _, s := range r.Scripts() {
			row.Scripts = append(row.Scripts, playJSON{s.Name(), s.Wire, s.Transport, s.Client, s.Expect.Kind, s.Expect.Retryable, s.Expect.Note})
		}
		list = append(list, row)
	}
	encoder := show.JSON(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(list)
}

const (
	anyProvider = "any"  // how the catalogue's "*" is said
	noKind      = "none" // how its "-" is
)

// saidInBody is the message in a body that is JSON, or holds some.
var saidInBody = regexp.MustCompile(`"message": ?"((?:[^"\\]|\\.)+)"`)
