package faultlab

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/mulligan-run/mulligan/faultlab/catalogue"
)

// How much a state shows of what may be very long.
const (
	maxModelShown = 512 // bytes of a model's name
	maxStepsShown = 16  // of a script
)

// state is a lab as its page shows it.
type state struct {
	Epoch    string       `json:"epoch"`    // a different one means a different lab
	Version  uint64       `json:"version"`  // for the next ?since=
	Asked    int          `json:"asked"`    // requests in all
	Oldest   int          `json:"oldest"`   // the number of the first that is remembered
	Scripts  []modelState `json:"scripts"`  // by model
	Chaos    *chaosJSON   `json:"chaos"`    // null = none
	Requests []served     `json:"requests"` // those that changed, without headers and bodies
}

type modelState struct {
	Model string   `json:"model"` // "" = all others
	Steps []string `json:"steps"` // the first of them
	Count int      `json:"count"` // of all
	Next  int      `json:"next"`  // which one is played next, from 0
}

func (l *Lab) serveState(w http.ResponseWriter, r *http.Request) {
	since, err := numberOf(r, "since", 0)
	if err != nil {
		writeProblem(w, http.StatusBadRequest, "since is a number")
		return
	}
	writeJSON(w, http.StatusOK, l.state(since))
}

func (l *Lab) state(since uint64) state {
	l.mu.Lock()
	defer l.mu.Unlock()
	m := &l.memory
	s := state{Epoch: m.epoch, Version: m.version, Asked: m.asked, Scripts: []modelState{}, Requests: []served{}}
	for _, model := range slices.Sorted(maps.Keys(l.scripts)) {
		script := l.scripts[model]
		count := len(script.steps)
		s.Scripts = append(s.Scripts, modelState{
			model, stepNames(script.steps[:min(count, maxStepsShown)]), count, min(script.next, count-1),
		})
	}
	if l.chaos != nil {
		shown := chaosJSON(l.chaos.Chaos)
		s.Chaos = &shown
	}
	if len(m.requests) > 0 {
		s.Oldest = m.requests[0].Number
	}
	for _, q := range m.since(since) {
		q.Header = nil
		if len(q.Model) > maxModelShown {
			q.Model = strings.ToValidUTF8(q.Model[:maxModelShown], "") + "…"
		}
		s.Requests = append(s.Requests, q.show(0))
	}
	return s
}

// rowJSON is a row of the catalogue as the page needs it.
type rowJSON struct {
	ID          string   `json:"id"`
	Provider    string   `json:"provider"`
	Kind        string   `json:"kind"`
	Status      string   `json:"status"`
	When        string   `json:"when"`
	Class       string   `json:"class"`
	Retryable   string   `json:"retryable"`
	RightAction string   `json:"rightAction"`
	Source      string   `json:"source"`
	Wires       []string `json:"wires"` // wires on which it can be played
	Names       []string `json:"names"` // of its scripts, including its variants
}

func serveRows(w http.ResponseWriter, _ *http.Request) {
	rows := []rowJSON{}
	for _, r := range catalogue.Rows() {
		row := rowJSON{
			r.ID, r.Provider, r.Kind, r.Status, r.When, r.Class, r.Retryable, r.RightAction, r.Source, []string{}, []string{},
		}
		for _, s := range r.Scripts() {
			if s.Wire == "" {
				continue
			}
			row.Wires = appendNew(row.Wires, s.Wire)
			row.Names = appendNew(row.Names, s.Name())
		}
		rows = append(rows, row)
	}
	slices.SortStableFunc(rows, func(a, b rowJSON) int { return cmp.Compare(a.Kind, b.Kind) })
	writeJSON(w, http.StatusOK, rows)
}

func appendNew(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}
