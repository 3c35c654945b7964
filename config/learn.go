package config

import (
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/internal/exit"
)

// Teach makes failures like f, whose evidence is e, be of that kind from now on.
func (k *Corrections) Teach(f *failure.Failure, e failure.Evidence, kind failure.Kind) (*Lesson, error) {
	said := &Lesson{Before: f.Kind, After: kind}
	now := k.Local().Diagnose(e)
	learned := now.Evidence[0].Source == failure.ClueLocal
	if now.Failure.Kind == kind && (f.Kind == kind || learned) {
		return said, nil
	}
	entry, err := EntryOf(f, kind, e.At)
	if err != nil {
		return nil, exit.Usagef("there is nothing by which such a failure could be known again: %w; write a row below failures: in mulligan.yaml", err)
	}
	table, err := k.with(entry)
	if err != nil {
		return nil, err
	}
	if d := table.Diagnose(e); d.Failure.Kind != kind {
		return nil, exit.Usagef("it stays %s by %s, which comes first: change it there", d.Failure.Kind, d.Evidence[0].Where)
	}
	said.Row, said.File, said.Warning = entry.Line(), k.File, failure.Repeats(said.Before, kind)
	return said, k.learn(entry)
}

// Unteach removes the learned row that decides this failure.
func (k *Corrections) Unteach(e failure.Evidence) (*Lesson, error) {
	said := &Lesson{Before: k.Local().Classify(e).Kind, File: k.File, Forgotten: true}
	entry, err := k.forget(e)
	if err != nil {
		return nil, exit.Usage(err)
	}
	said.Row, said.After = entry.Line(), k.Local().Classify(e).Kind
	return said, nil
}

// EntryOf is the row that gives failures like f that kind, without anything that looks like a
// key.
func EntryOf(f *failure.Failure, kind failure.Kind, at time.Time) (Failure, error) {
	known := *f
	known.ProviderCode, known.Detail = Hidden(f.ProviderCode), Hidden(f.Detail)
	row, err := failure.RowOf(&known, kind)
	return Failure{
		Kind: kind, Provider: row.Provider, Status: row.Status, Code: row.Code, Text: row.Text,
		Was: f.Kind, Learned: at.UTC().Format(time.DateOnly),
	}, err
}

// Lesson is the result of a correction.
type Lesson struct {
	Before  failure.Kind `json:"before"`
	After   failure.Kind `json:"after"`
	Row     string       `json:"row,omitempty"`  // the row that was written or deleted; "" = none
	File    string       `json:"file,omitempty"` // the file that was changed
	Warning string       `json:"warning,omitempty"`

	Forgotten bool `json:"forgotten,omitempty"`
}
