package rules

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"cel.dev/cel-go/cel"
	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"github.com/mulligan-run/mulligan/recovery"
)

// Limits on what a rule may hold besides its condition, as in the host
// (docs/plugin-protocol.md).
const (
	maxName    = 64  // bytes
	maxModel   = 200 // bytes of a model's name
	maxLabel   = 200 // bytes
	maxReason  = 2 << 10
	maxButtons = 8
	maxTo      = 50
)

// Load reads a file of rules. If the content is wrong, the error is [Problems].
func Load(path string) (*Rules, error) {
	text, err := readFile(path)
	if err != nil {
		return nil, err
	}
	return parseRules(path, text)
}

// parseRules reads rules from the text of the file of that name.
func parseRules(name string, text []byte) (*Rules, error) {
	s, file, err := parseYAML(name, text)
	if err != nil {
		return nil, err
	}
	var root ast.Node
	if len(file.Docs) > 1 {
		return nil, Problems{s.problem(placeOf(file.Docs[1].Body), "a file of rules is one document, not %d", len(file.Docs))}
	}
	if len(file.Docs) == 1 {
		root = file.Docs[0].Body
	}
	return read(s, root)
}

// ParseAt reads rules that are part of another file, at a YAML path such as
// $.plugins[0].config.
func ParseAt(name string, text []byte, path string) (*Rules, error) {
	s, file, err := parseYAML(name, text)
	if err != nil {
		return nil, err
	}
	at, err := yaml.PathString(path)
	if err != nil {
		return nil, err
	}
	root, err := at.FilterFile(file)
	if err != nil {
		return nil, fmt.Errorf("%s: there is nothing at %s: %w", name, path, err)
	}
	return read(s, root)
}

func read(s *source, root ast.Node) (*Rules, error) {
	r := &reader{src: s, names: map[string]int{}}
	rs := &Rules{File: s.name, defined: map[string]*expression{}}
	f, ok := r.mapping(root, "a file of rules", "rules", "before_call", "expressions", "counters", "webhooks")
	if ok && f.by["rules"] == nil && f.by["before_call"] == nil && len(r.problems) == 0 {
		r.wrong(f.at, `"rules:" is missing, with a list of rules`)
	}
	r.define(f, rs)
	for i, n := range r.list(f.by["rules"], "rules", maxRules) {
		rs.Rules = append(rs.Rules, r.rule(n, i+1))
	}
	for i, n := range r.list(f.by["before_call"], "before_call", maxRules) {
		rs.Gates = append(rs.Gates, r.gate(n, i+1))
	}
	if err := r.problems.orNil(); err != nil {
		return nil, err
	}
	return rs, nil
}

// name reads the name of a rule, which must be unique.
func (r *reader) name(n ast.Node) string {
	name := r.text(n, "name", maxName)
	if name == "" {
		return ""
	}
	at := placeOf(n)
	if line, taken := r.names[name]; taken {
		r.wrong(at, "the rule on line %d is called %q, too", line, name)
	}
	r.names[name] = at.line
	return name
}

// actionNames are the fields of which a rule has exactly one.
var actionNames = []string{"retry", "switch_model", "fail"}

func (r *reader) rule(n ast.Node, number int) *rule {
	rule := &rule{Number: number, Line: placeOf(n).line}
	f, ok := r.mapping(n, "a rule", "name", "when", "retry", "switch_model", "fail", "reason", "actions", "adjust", "restrict", "webhook")
	if !ok {
		return rule
	}
	rule.Name = r.name(f.by["name"])
	rule.when = r.condition(f)
	rule.restrict, rule.webhook = r.restrict(f.by["restrict"]), r.told(f.by["webhook"])
	reason := f.by["reason"]
	rule.action, reason = r.action(f, reason, rule, actionNames)
	rule.reason = r.reason(reason, rule)
	rule.extra = r.buttons(f.by["actions"])
	rule.adjust = r.adjust(f.by["adjust"])
	if _, gone := rule.action.(failAction); gone && (rule.adjust != recovery.Adjust{} || rule.extra != nil) {
		r.wrong(f.at, "after fail there is no next attempt: adjust and actions have no effect")
	}
	return rule
}

func (r *reader) condition(f fields) *expression {
	n, there := f.by["when"]
	if !there && f.unknown {
		return nil
	}
	if !there {
		r.wrong(f.at, `the rule has no condition: write "when: true" if it always holds`)
		return nil
	}
	s, ok := r.scalar(n, "when")
	if !ok {
		return nil
	}
	if strings.TrimSpace(s.text) == "" {
		r.wrong(s.at, "when is empty")
		return nil
	}
	x, flaws := r.compile(s.text)
	if len(flaws) == 0 && x.checked.OutputType().Kind() != cel.BoolKind {
		flaws = []flaw{{0, fmt.Sprintf("a condition is true or false, this is %s", x.checked.OutputType())}}
	}
	r.flaws(s, flaws)
	return x
}

// gate reads a rule about a call that is about to begin.
func (r *reader) gate(n ast.Node, number int) *rule {
	rule := &rule{Number: number, Line: placeOf(n).line}
	f, ok := r.mapping(n, "a rule of before_call", append([]string{"name", "when", "reason", "webhook"}, verdictNames...)...)
	if !ok {
		return rule
	}
	rule.Name = r.name(f.by["name"])
	rule.when = r.condition(f)
	rule.webhook = r.told(f.by["webhook"])
	reason := f.by["reason"]
	rule.action, reason = r.action(f, reason, rule, verdictNames)
	rule.reason = r.reason(reason, rule)
	return rule
}

// action reads a rule's action, which is one of names. An action that gives up may contain the reason.
// A rule that forbids or tells needs no action.
func (r *reader) action(f fields, reason ast.Node, of *rule, names []string) (action, ast.Node) {
	var named []string
	for _, name := range names {
		if _, there := f.by[name]; there {
			named = append(named, name)
		}
	}
	if len(named) == 0 && (f.unknown || of.restrict != nil || of.webhook != "") {
		return nil, reason
	}
	if len(named) != 1 {
		last := len(names) - 1
		r.wrong(f.at, "a rule has exactly one of %s and %s, this one has %s", strings.Join(names[:last], ", "), names[last], orNone(named))
		return nil, reason
	}
	n := f.by[named[0]]
	switch name := named[0]; name {
	case "retry":
		return r.retry(n), reason
	case "switch_model":
		return r.switchModel(n, name), reason
	case "allow", "route", "hold", "refuse":
		return r.verdict(name, n, reason)
	}
	inner, _ := r.mapping(n, "fail", "reason")
	return failAction{}, r.within(inner, reason)
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, " and ")
}

func (r *reader) retry(n ast.Node) action {
	f, _ := r.mapping(n, "retry", "after", "backoff", "jitter", "max")
	a := retryAction{
		after:   r.duration(f.by["after"], "after", defaultRetry.after),
		backoff: r.number(f.by["backoff"], "backoff", 1, 10, defaultRetry.backoff),
		jitter:  r.boolean(f.by["jitter"], "jitter", defaultRetry.jitter),
	}
	a.most = r.duration(f.by["max"], "max", max(a.after, defaultRetry.most))
	if a.most >= 0 && a.most < a.after {
		r.wrong(placeOf(f.by["max"]), "max: %s is less than after, %s", short(a.most), short(a.after))
	}
	return a
}

func (r *reader) switchModel(n ast.Node, what string) action {
	f, _ := r.mapping(n, what, "to", "prefer")
	a := switchAction{prefer: r.choice(f.by["prefer"], "prefer", "order", preferenceNames)}
	if list, isList := f.by["to"].(*ast.SequenceNode); isList && len(list.Values) == 0 {
		r.wrong(placeOf(list), "to is empty: leave it out for all alternatives")
	}
	for _, item := range r.list(f.by["to"], "to", maxTo) {
		a.to = append(a.to, r.model(item, "to"))
	}
	return a
}

func (r *reader) reason(n ast.Node, rule *rule) template {
	if n == nil {
		name := rule.String()
		return template{{text: strings.ToUpper(name[:1]) + name[1:] + " applies"}}
	}
	s, ok := r.scalar(n, "reason")
	if !ok {
		return nil
	}
	if len(s.text) > maxReason {
		r.wrong(s.at, "reason has %d bytes, at most %d", len(s.text), maxReason)
		return nil
	}
	t, flaws := parseTemplate(s.text, r.compile)
	r.flaws(s, flaws)
	return t
}

// buttonKinds are the actions that a rule may offer without a label of its own.
var buttonKinds = []string{
	recovery.ButtonRetry, recovery.ButtonSwitchModel, recovery.ButtonLarger, recovery.ButtonCompact,
	recovery.ButtonTellAgent, recovery.ButtonRerunTool, recovery.ButtonEdit, recovery.ButtonFixKey, recovery.ButtonAddCredit,
	recovery.ButtonChooseModel, recovery.ButtonCopyDetails,
}

func (r *reader) buttons(n ast.Node) []recovery.Button {
	var list []recovery.Button
	for _, item := range r.list(n, "actions", maxButtons) {
		f, ok := r.mapping(item, "an action", "kind", "label", "model")
		if !ok {
			continue
		}
		b := recovery.Button{Kind: r.text(f.by["kind"], "kind", maxLabel), Label: r.text(f.by["label"], "label", maxLabel)}
		if m := f.by["model"]; m != nil {
			b.Model = r.model(m, "model")
		}
		r.checkButton(f, b)
		b.Effect = recovery.EffectOf(b.Kind)
		list = append(list, b)
	}
	return list
}

func (r *reader) checkButton(f fields, b recovery.Button) {
	switches := b.Kind == recovery.ButtonSwitchModel || b.Kind == recovery.ButtonLarger
	switch {
	case f.by["kind"] == nil:
		r.wrong(f.at, "an action needs a kind, for example fix_key")
	case b.Label == "" && !slices.Contains(buttonKinds, b.Kind):
		r.wrong(placeOf(f.by["kind"]), "kind: %q is not known, so it needs a label%s", b.Kind, didYouMean(b.Kind, buttonKinds))
	case switches && b.Model == "":
		r.wrong(f.at, "%s needs a model", b.Kind)
	case !switches && b.Model != "":
		r.wrong(placeOf(f.by["model"]), "%s takes no model", b.Kind)
	}
}

// maxOutput is more tokens than any model can produce.
const maxOutput = 10_000_000

func (r *reader) adjust(n ast.Node) recovery.Adjust {
	f, _ := r.mapping(n, "adjust", "compact", "max_output_tokens", "reasoning_effort", "continue")
	tokens := r.number(f.by["max_output_tokens"], "max_output_tokens", 1, maxOutput, 0)
	if tokens != math.Trunc(tokens) {
		r.wrong(placeOf(f.by["max_output_tokens"]), "max_output_tokens: %v is not a whole number", tokens)
	}
	return recovery.Adjust{
		Compact:         r.boolean(f.by["compact"], "compact", false),
		MaxOutputTokens: int(tokens),
		ReasoningEffort: r.choice(f.by["reasoning_effort"], "reasoning_effort", "", []string{"low", "medium", "high"}),
		Continue:        r.boolean(f.by["continue"], "continue", false),
	}
}
