package faultlab

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mulligan-run/mulligan/faultlab/catalogue"
	"github.com/mulligan-run/mulligan/llm"
)

// Row plays a row of the fault catalogue ("A03"), or one of its other scripts ("O12-server_error"),
// on the wire of the request. A request on a wire without a script for the row is refused with 400,
// which names the wires that have one. A row plays its script whether or not a stream was asked
// for. It is an error if there is no such row, or if none of its scripts can be played over HTTP.
func Row(name string) (Step, error) {
	scripts := catalogue.Scripts(name)
	if len(scripts) == 0 {
		return Step{}, fmt.Errorf("no row %q in the fault catalogue", clip(name))
	}
	s := scripts[0]
	switch {
	case s.Wire != "":
		return Step{kind: kindRow, name: "row:" + name, row: scripts}, nil
	case s.Client != "":
		return Step{}, fmt.Errorf("no server can play row %s: %s", name, s.Client)
	}
	return Step{}, fmt.Errorf("row %s happens below HTTP: it is the broken transport %q", name, s.Transport)
}

// Kind plays the rows with failures of a kind, in the catalogue's order. In a script these steps
// are skipped on wires that they have no script for. [catalogue.Answer] stands for the rows that
// are not failures. It is an error if there is no such row.
func Kind(kind string) ([]Step, error) {
	var steps []Step
	for _, s := range catalogue.All() {
		name := "row:" + s.Name()
		seen := len(steps) > 0 && steps[len(steps)-1].name == name
		if s.Wire != "" && s.Expect.Kind == kind && !seen {
			steps = append(steps, Step{kind: kindRow, name: name, row: catalogue.Scripts(s.Name()), optional: true})
		}
	}
	if steps == nil {
		return nil, fmt.Errorf("no row of the kind %q can be played over HTTP", clip(kind))
	}
	return steps, nil
}

// on gives the row's script for a wire.
func (s Step) on(wire string) (catalogue.Script, bool) {
	i := slices.IndexFunc(s.row, func(c catalogue.Script) bool { return c.Wire == wire })
	if i < 0 {
		return catalogue.Script{}, false
	}
	return s.row[i], true
}

// plays reports whether the step can be played on a wire: a row needs a script for it.
func (s Step) plays(wire string) bool {
	_, ok := s.on(wire)
	return ok || s.kind != kindRow
}

// mute reports whether no HTTP status is ever sent.
func (s Step) mute(wire string) bool {
	script, isRow := s.on(wire)
	return s.kind == kindHang || s.kind == kindRefuse || isRow && script.Status == 0
}

// notHere says which wires a row's script is for.
func (s Step) notHere(wire string) string {
	var wires []string
	for _, c := range s.row {
		wires = append(wires, c.Wire)
	}
	return fmt.Sprintf("faultlab: %s has no script for the wire %s, only for %s", s.Name(), wire, strings.Join(wires, ", "))
}

// step gives the step for a request on a wire. Rows of a kind without a script for the wire are
// skipped, even when the last step repeats. A row that was asked for by name waits for a request
// that it can be played for. A script without steps gives the zero Step.
func (s *script) step(wire string) Step {
	if s == nil {
		return Step{}
	}
	last := len(s.steps) - 1
	if s.again && s.next > last {
		s.next = 0
	}
	skip := func(i int) bool { return s.steps[i].optional && !s.steps[i].plays(wire) }
	for s.next < last && skip(s.next) {
		s.next++
	}
	at := min(s.next, last)
	for at > 0 && skip(at) {
		at--
	}
	step := s.steps[at]
	if step.plays(wire) {
		s.next++
	}
	return step
}

// firstTool is the name of the first tool that a request offers.
func firstTool(offered []llm.Tool) string {
	for _, t := range offered {
		if t.Name != "" {
			return t.Name
		}
	}
	return ""
}
