package rules

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"time"

	"cel.dev/cel-go/cel"
	"github.com/goccy/go-yaml/ast"

	"github.com/mulligan-run/mulligan/internal/netguard"
)

// Limits on what a file may define in addition to its rules.
const (
	maxDefinitions = 64                 // of each kind
	maxWithin      = 7 * 24 * time.Hour // of a counter
	maxURL         = 2 << 10
)

// counter counts recent failures.
type counter struct {
	name   string
	when   *expression // which failures; nil = all
	by     *expression // failures are counted separately for each value; nil = together
	within time.Duration
}

// receiver is a webhook that a rule may tell.
type receiver struct {
	name         string
	url          *url.URL
	allowPrivate bool
}

func (w receiver) guard() netguard.Guard {
	return netguard.Guard{Plain: w.url.Scheme == "http", AllowPrivate: w.allowPrivate}
}

// entries are the pairs of a mapping whose keys are names chosen in the file.
func (r *reader) entries(n ast.Node, what string) []*ast.MappingValueNode {
	pairs, is := pairsOf(n)
	if !is {
		r.wrong(placeOf(n), "%s is %s, not names with what they mean", what, kindOf(n))
	}
	if len(pairs) > maxDefinitions {
		r.wrong(placeOf(pairs[maxDefinitions]), "%s has %d entries, at most %d", what, len(pairs), maxDefinitions)
		return nil
	}
	var seen []string
	return slices.DeleteFunc(pairs, func(pair *ast.MappingValueNode) bool {
		name := keyOf(pair)
		_, isFact := factFields[name]
		switch {
		case !isIdentifier(name):
			r.wrong(placeOf(pair), "%q is not a name, which has letters, digits and _, and no digit at the beginning", name)
		case slices.Contains(seen, name):
			r.wrong(placeOf(pair), "%s has %q twice", what, name)
		case isFact && what == "expressions":
			r.wrong(placeOf(pair), "%q is a fact already: give the expression another name", name)
		default:
			seen = append(seen, name)
			return false
		}
		return true
	})
}

func isIdentifier(name string) bool {
	for i, c := range name {
		letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != "" && len(name) <= maxName
}

// define reads the definitions that rules may refer to.
func (r *reader) define(f fields, rs *Rules) {
	for _, pair := range r.entries(f.by["counters"], "counters") {
		r.counters = append(r.counters, keyOf(pair)) // expressions may refer to them
	}
	r.expressions(r.entries(f.by["expressions"], "expressions"), rs)
	for _, pair := range r.entries(f.by["counters"], "counters") {
		rs.counters = append(rs.counters, r.counter(keyOf(pair), pair.Value))
	}
	for _, pair := range r.entries(f.by["webhooks"], "webhooks") {
		rs.receivers = append(rs.receivers, r.receiver(keyOf(pair), pair.Value))
		r.receivers = append(r.receivers, keyOf(pair))
	}
}

// expressions reads the named expressions. They may use each other in any order, because a
// configuration that went through JSON has lost its order, but not in a circle.
func (r *reader) expressions(pairs []*ast.MappingValueNode, rs *Rules) {
	for len(pairs) > 0 {
		var later []*ast.MappingValueNode
		for _, pair := range pairs {
			name := keyOf(pair)
			s, ok := r.scalar(pair.Value, name)
			if !ok {
				r.declare(name, cel.DynType)
				continue
			}
			x, flaws := r.compile(s.text)
			if len(flaws) > 0 {
				later = append(later, pair)
				continue
			}
			r.declare(name, x.checked.OutputType())
			rs.defined[name] = x
		}
		if len(later) == len(pairs) { // the error in the first is not a name that is defined later
			r.compiled(later[0].Value, keyOf(later[0]))
			r.declare(keyOf(later[0]), cel.DynType)
			later = later[1:]
		}
		pairs = later
	}
}

// declare lets later expressions refer to a name.
func (r *reader) declare(name string, t *cel.Type) {
	env, err := r.environment()
	if err == nil {
		env, err = env.Extend(cel.Variable(name, t))
	}
	if err != nil {
		r.wrong(place{1, 1}, "%s: %v", name, err)
		return
	}
	r.env = env
}

func (r *reader) environment() (*cel.Env, error) {
	if r.env != nil {
		return r.env, nil
	}
	return environment()
}

// compiled reads an expression of any type.
func (r *reader) compiled(n ast.Node, what string) *expression {
	s, ok := r.scalar(n, what)
	if !ok {
		return nil
	}
	x, flaws := r.compile(s.text)
	r.flaws(s, flaws)
	return x
}

// compile checks an expression against the facts and the names defined in this file.
func (r *reader) compile(text string) (*expression, []flaw) {
	env, err := r.environment()
	if err != nil {
		return nil, []flaw{{0, err.Error()}}
	}
	x, flaws := compileIn(env, text)
	if x != nil {
		if flaws = unknownCounters(x.checked.NativeRep(), r.counters); len(flaws) > 0 {
			return nil, flaws
		}
	}
	return x, flaws
}

func (r *reader) counter(name string, n ast.Node) counter {
	f, _ := r.mapping(n, "a counter", "within", "when", "by")
	c := counter{name: name, within: r.duration(f.by["within"], "within", 0)}
	switch {
	case f.by["within"] == nil:
		r.wrong(f.at, "a counter needs a time, for example within: 10m")
	case c.within <= 0 || c.within > maxWithin:
		r.wrong(placeOf(f.by["within"]), "within is not between 1ms and 7 days")
	}
	if n := f.by["when"]; n != nil {
		if c.when = r.compiled(n, "when"); c.when != nil && c.when.checked.OutputType().Kind() != cel.BoolKind {
			r.wrong(placeOf(n), "a condition is true or false, this is %s", c.when.checked.OutputType())
		}
	}
	if n := f.by["by"]; n != nil {
		if c.by = r.compiled(n, "by"); c.by != nil && c.by.checked.OutputType().Kind() != cel.StringKind {
			r.wrong(placeOf(n), "by is a text, for example failure.provider, this is %s", c.by.checked.OutputType())
		}
	}
	return c
}

// receiver reads a webhook; the rules are those for webhooks in mulligan.yaml.
func (r *reader) receiver(name string, n ast.Node) receiver {
	f, _ := r.mapping(n, "a webhook", "url", "allow_private")
	w := receiver{name: name, allowPrivate: r.boolean(f.by["allow_private"], "allow_private", false)}
	text := r.text(f.by["url"], "url", maxURL)
	at := placeOf(f.by["url"])
	if f.by["url"] == nil {
		r.wrong(f.at, "a webhook needs a url")
	}
	u, err := url.Parse(text)
	if err != nil || text == "" {
		u = &url.URL{}
	}
	w.url = u
	switch {
	case text == "":
	case u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		r.wrong(at, "url must begin with https://")
	case u.User != nil || u.Fragment != "":
		r.wrong(at, "url must hold no user and no fragment")
	case u.Scheme == "http" && !w.allowPrivate:
		r.wrong(at, "http is for private addresses, which need allow_private: true; else use https")
	default:
		if addr, err := netip.ParseAddr(u.Hostname()); err == nil {
			if why := w.guard().Refuse(addr); why != "" {
				r.wrong(at, "url: %s; allow_private: true allows private ones", why)
			}
		}
	}
	return w
}

// told reads which receiver a rule tells.
func (r *reader) told(n ast.Node) string {
	if n == nil {
		return ""
	}
	name := r.text(n, "webhook", maxName)
	if name != "" && !slices.Contains(r.receivers, name) {
		r.wrong(placeOf(n), "there is no webhook %q under webhooks%s", name, didYouMean(name, r.receivers))
	}
	return name
}

// String is the counter for people.
func (c counter) String() string { return fmt.Sprintf("%s within %s", c.name, short(c.within)) }
