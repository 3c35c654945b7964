package rules

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/recovery"
)

// WriteTable prints the rules, and which of them never decide.
func (rs *Rules) WriteTable(w io.Writer) error {
	if len(rs.Rules)+len(rs.Gates) == 0 {
		_, err := fmt.Fprintf(w, "%s is right and has no rules: it never has an opinion.\n", rs.File)
		return err
	}
	fmt.Fprintf(w, "%s is right: %s.\n\n", rs.File, count(len(rs.Rules)+len(rs.Gates), "rule"))
	for _, part := range []struct {
		head  string
		rules []*rule
	}{{"Before a call:", rs.Gates}, {"", rs.Rules}} {
		if len(part.rules) == 0 {
			continue
		}
		if part.head != "" {
			fmt.Fprintln(w, part.head)
		}
		t := newTable(w, "#", "LINE", "NAME", "WHEN", "THEN")
		for _, r := range part.rules {
			t.row(fmt.Sprint(r.Number), fmt.Sprint(r.Line), r.Name, clipped(r.condition()), r.effect())
		}
		if err := t.flush(); err != nil {
			return err
		}
		fmt.Fprintln(w)
	}
	unreachable := rs.unreachable()
	for _, u := range unreachable {
		fmt.Fprintf(w, "warning: %s:%d: %s never decides: %s\n", rs.File, u.Rule.Line, u.Rule, u.Why)
	}
	if len(unreachable) > 0 {
		fmt.Fprintln(w)
	}
	return nil
}

// WriteLadders prints what would be decided about failures of every kind, grouping
// kinds that are treated alike; the kind and attempt of x do not matter.
func (rs *Rules) WriteLadders(w io.Writer, x Example) error {
	first := rs.Facts(x)
	fmt.Fprintf(w, "If every attempt of %s fails alike, and it may be switched to %s:\n\n", first.Model, alternativeNames(first))
	t := newTable(w, "FAILURE", "ATTEMPT", "DECISION", "RULE")
	for _, group := range rs.groups(x) {
		head := strings.Join(group.kinds, ", ")
		for _, rung := range group.rungs {
			t.row(head, fmt.Sprint(rung.Attempt), rung.String(), ruleOf(rung.Outcome))
			head = ""
		}
	}
	return t.flush()
}

// group are kinds of failure that are treated alike.
type group struct {
	kinds []string
	rungs []rung
	key   string
}

// groups are in the order of failure.Kinds, with kinds without any opinion last.
func (rs *Rules) groups(x Example) []group {
	var list []group
	var silent group
	for _, kind := range failure.Kinds() {
		x.Kind, x.Attempt = kind, 0
		g := group{kinds: []string{string(kind)}, rungs: rs.ladder(rs.Facts(x))}
		for _, rung := range g.rungs {
			g.key += rung.String() + "\t" + ruleOf(rung.Outcome) + "\n"
		}
		if g.rungs[0].Outcome.Rule == nil {
			silent = group{append(silent.kinds, g.kinds...), g.rungs, ""}
			continue
		}
		list = merged(list, g)
	}
	if n := len(silent.kinds); n > 0 {
		if len(list) > 0 {
			silent.kinds = []string{"every other"}
		} else {
			silent.kinds = []string{"every kind"}
		}
		list = append(list, silent)
	}
	return list
}

func merged(list []group, g group) []group {
	for i := range list {
		if list[i].key == g.key {
			list[i].kinds = append(list[i].kinds, g.kinds...)
			return list
		}
	}
	return append(list, g)
}

// WriteDecision prints what would be decided about one failure, and what each rule
// did.
func (rs *Rules) WriteDecision(w io.Writer, f *Facts) error {
	rs.assumeCounts(f)
	o := rs.decide(f, 0)
	fmt.Fprintf(w, "%s at attempt %d of %s: %s\n", f.Failure.Kind, f.Attempt, f.Model, rung{Outcome: o, Blocked: f.blocked(o.Vote)})
	if o.Rule != nil && o.Vote.Reason != "" {
		fmt.Fprintf(w, "reason: %s\n", o.Vote.Reason)
	}
	for _, b := range o.Vote.Actions {
		fmt.Fprintf(w, "button: %s\n", labelOf(b))
	}
	for _, change := range adjustments(o.Vote.Adjust) {
		fmt.Fprintf(w, "changed: %s\n", change)
	}
	if x := o.Vote.Restrict; x != nil {
		fmt.Fprintf(w, "forbidden: %s\n", x.InWords())
	}
	for _, t := range o.Tells {
		fmt.Fprintf(w, "told: %s\n", t.to)
	}
	fmt.Fprintln(w)
	notes := map[*rule]string{}
	for _, n := range o.Notes {
		notes[n.Rule] = n.Err.Error()
	}
	for _, r := range rs.Rules {
		switch note := notes[r]; {
		case r == o.Rule:
			fmt.Fprintf(w, "%s: decides\n", r)
			return nil
		case slices.Contains(o.Beside, r):
			fmt.Fprintf(w, "%s: holds, and decides nothing: %s\n", r, r.effect())
		case note != "":
			fmt.Fprintf(w, "%s: %s\n", r, note)
		default:
			fmt.Fprintf(w, "%s: does not match\n", r)
		}
	}
	return nil
}

// String is the decision in a few words.
func (r rung) String() string {
	text := r.Outcome.String()
	if r.Blocked != "" {
		text += ", only offered: " + recovery.LimitInWords(r.Blocked)
	}
	return text
}

// String is the outcome in a few words.
func (o outcome) String() string {
	switch o.Vote.Action {
	case recovery.ActionRetry:
		if o.Vote.Delay == 0 {
			return "retry at once"
		}
		text := "retry after " + short(o.Vote.Delay.Duration())
		if a, ok := o.Rule.action.(retryAction); ok && a.jitter {
			text += " and some jitter"
		}
		return text
	case recovery.ActionSwitchModel:
		return "switch to " + o.Vote.NewModel
	case recovery.ActionFail:
		return "fail"
	}
	return "no opinion"
}

func ruleOf(o outcome) string {
	if o.Rule == nil {
		return "-"
	}
	if o.Rule.Name == "" {
		return fmt.Sprint(o.Rule.Number)
	}
	return fmt.Sprintf("%d %s", o.Rule.Number, o.Rule.Name)
}

func labelOf(b recovery.Button) string {
	if b.Label != "" {
		return b.Label
	}
	return recovery.Label(b.Kind, b.Model)
}

func alternativeNames(f *Facts) string {
	if len(f.Alternatives) == 0 {
		return "no other model"
	}
	var names []string
	for _, a := range f.Alternatives {
		names = append(names, a.Model)
	}
	return strings.Join(names, ", ")
}

// clipped keeps a table readable.
func clipped(text string) string { return words.Clip(text, 72) }

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// table prints columns.
type table struct{ w *tabwriter.Writer }

func newTable(w io.Writer, heads ...string) table {
	t := table{tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)}
	t.row(heads...)
	return t
}

func (t table) row(cells ...string) { fmt.Fprintln(t.w, strings.Join(cells, "\t")) }

func (t table) flush() error { return t.w.Flush() }
