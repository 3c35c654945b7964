package rules

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
)

// Rules are the rules of a file, in order.
type Rules struct {
	File  string
	Rules []*rule // about failures
	Gates []*rule // about calls that are about to begin

	defined   map[string]*expression
	counters  []counter
	receivers []receiver
}

// rule says what to do if its condition holds.
type rule struct {
	Number int    // from 1
	Name   string // may be empty
	Line   int    // where it begins in its file

	when   *expression
	action action // nil = it only forbids or tells, and later rules are tried
	reason template
	extra  []recovery.Button
	adjust recovery.Adjust

	restrict *recovery.Restrict // what it forbids, besides its action
	webhook  string             // the one that it tells
}

// String is how people are told about the rule.
func (r *rule) String() string {
	if r.Name == "" {
		return fmt.Sprintf("rule %d", r.Number)
	}
	return fmt.Sprintf("rule %d (%s)", r.Number, r.Name)
}

// DependOnTime reports whether a rule uses the time of a failure.
func (rs *Rules) DependOnTime() bool {
	timely := func(x *expression) bool { return x.reads("failure", "at") || x.names("at") }
	for _, x := range rs.defined {
		if timely(x) {
			return true
		}
	}
	return len(rs.counters) > 0 || slices.ContainsFunc(slices.Concat(rs.Rules, rs.Gates), func(r *rule) bool { return timely(r.when) })
}

// condition is the rule's condition, on one line.
func (r *rule) condition() string { return strings.Join(strings.Fields(r.when.text), " ") }

// effect says what the rule does, for a table.
func (r *rule) effect() string {
	var parts []string
	if r.action != nil {
		parts = append(parts, r.action.String())
	}
	if r.restrict != nil {
		parts = append(parts, "never "+r.restrict.InWords())
	}
	if r.webhook != "" {
		parts = append(parts, "tell "+r.webhook)
	}
	if r.action == nil {
		parts = append(parts, "and go on")
	}
	text := strings.Join(parts, ", ")
	for _, change := range adjustments(r.adjust) {
		text += ", " + change
	}
	return text
}

func adjustments(a recovery.Adjust) []string {
	var changes []string
	if a.Compact {
		changes = append(changes, "shortened")
	}
	if a.MaxOutputTokens > 0 {
		changes = append(changes, fmt.Sprintf("max_output_tokens %d", a.MaxOutputTokens))
	}
	if a.ReasoningEffort != "" {
		changes = append(changes, "reasoning_effort "+a.ReasoningEffort)
	}
	if a.Continue {
		changes = append(changes, "from the partial answer")
	}
	return changes
}

// action is what a rule does: one of retryAction, switchAction and failAction.
type action interface {
	// decide returns the vote, or false if the action is not possible. jitter is drawn
	// from [0, 1).
	decide(f *Facts, jitter float64) (recovery.Vote, bool)
	String() string
}

// short writes a duration as rules do: 2s, 1m30s, 1h.
func short(d time.Duration) string {
	text := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = text[:len(text)-len(zero)+1]
		}
	}
	return text
}
