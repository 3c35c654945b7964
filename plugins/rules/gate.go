package rules

import (
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/mulligan-run/mulligan/recovery"
)

// The actions of a before_call rule, which has exactly one.
var verdictNames = []string{"allow", "route", "hold", "refuse"}

// allowAction lets the call begin, whatever later rules say.
type allowAction struct{}

func (allowAction) decide(*Facts, float64) (recovery.Vote, bool) {
	return recovery.Vote{Action: recovery.ActionAllow}, true
}

func (allowAction) String() string { return "allow" }

// routeAction asks another model instead. If none is left, later rules are tried.
type routeAction struct{ to switchAction }

func (a routeAction) decide(f *Facts, _ float64) (recovery.Vote, bool) {
	v, possible := a.to.decide(f, 0)
	v.Action = recovery.ActionRoute
	return v, possible
}

func (a routeAction) String() string { return "route" + a.to.String()[len("switch"):] }

// holdAction delays the call.
type holdAction struct{ wait time.Duration }

func (a holdAction) decide(f *Facts, _ float64) (recovery.Vote, bool) {
	return recovery.Vote{Action: recovery.ActionHold, Until: f.At.Add(a.wait)}, true
}

func (a holdAction) String() string { return "hold for " + short(a.wait) }

// refuseAction keeps the model from being asked for this call.
type refuseAction struct{}

func (refuseAction) decide(*Facts, float64) (recovery.Vote, bool) {
	return recovery.Vote{Action: recovery.ActionRefuse}, true
}

func (refuseAction) String() string { return "refuse" }

// verdict reads the action of a before_call rule; refuse and hold may contain the
// reason.
func (r *reader) verdict(name string, n ast.Node, reason ast.Node) (action, ast.Node) {
	switch name {
	case "route":
		a, _ := r.switchModel(n, name).(switchAction)
		return routeAction{a}, reason
	case "hold":
		f, _ := r.mapping(n, name, "for", "reason")
		if f.by["for"] == nil {
			r.wrong(f.at, "hold needs a time, for example for: 10m")
		}
		return holdAction{r.duration(f.by["for"], "for", 0)}, r.within(f, reason)
	case "refuse":
		f, _ := r.mapping(n, name, "reason")
		return refuseAction{}, r.within(f, reason)
	}
	_, _ = r.mapping(n, name, "reason")
	return allowAction{}, reason
}

// within is the reason inside an action, or else the rule's.
func (r *reader) within(f fields, reason ast.Node) ast.Node {
	inner := f.by["reason"]
	if inner == nil {
		return reason
	}
	if reason != nil {
		r.wrong(placeOf(inner), "the rule has a reason already")
	}
	return inner
}
