package main

import (
	"os"
	"time"

	"github.com/mulligan-run/mulligan/failure"
)

// corrections are those of the configuration that these flags choose.
func (c *common) corrections() (*corrections, error) {
	config, err := loadConfig(c.config, os.Getenv)
	if err != nil {
		return nil, err
	}
	if c.state != "" {
		config.State = c.state
	}
	return config.corrections(os.Getenv)
}

// lesson is what became of a correction.
type lesson struct {
	Before  failure.Kind `json:"before"`
	After   failure.Kind `json:"after"`
	Row     string       `json:"row,omitempty"`  // what was written or deleted; "" = nothing
	File    string       `json:"file,omitempty"` // where
	Warning string       `json:"warning,omitempty"`

	Forgotten bool `json:"forgotten,omitempty"`
}

// teach has failures like f, which came of e, be of that kind from now on.
func (k *corrections) teach(f *failure.Failure, e failure.Evidence, kind failure.Kind) (*lesson, error) {
	said := &lesson{Before: f.Kind, After: kind}
	now := k.local().Diagnose(e)
	learned := now.Evidence[0].Source == failure.ClueLocal
	if now.Failure.Kind == kind && (f.Kind == kind || learned) {
		return said, nil
	}
	entry, err := entryOf(f, kind, e.At)
	if err != nil {
		return nil, usagef("there is nothing by which such a failure could be known again: %w; write a row below failures: in mulligan.yaml", err)
	}
	table, err := k.with(entry)
	if err != nil {
		return nil, err
	}
	if d := table.Diagnose(e); d.Failure.Kind != kind {
		return nil, usagef("it stays %s by %s, which comes first: change it there", d.Failure.Kind, d.Evidence[0].Where)
	}
	said.Row, said.File, said.Warning = entry.line(), k.file, failure.Repeats(said.Before, kind)
	return said, k.learn(entry)
}

// unteach takes the learned row away that decides what this failure is.
func (k *corrections) unteach(e failure.Evidence) (*lesson, error) {
	said := &lesson{Before: k.local().Classify(e).Kind, File: k.file, Forgotten: true}
	entry, err := k.forget(e)
	if err != nil {
		return nil, usage(err)
	}
	said.Row, said.After = entry.line(), k.local().Classify(e).Kind
	return said, nil
}

// entryOf is the row by which failures like f are of that kind, without what looks like a key.
func entryOf(f *failure.Failure, kind failure.Kind, at time.Time) (failureEntry, error) {
	known := *f
	known.ProviderCode, known.Detail = hidden(f.ProviderCode), hidden(f.Detail)
	row, err := failure.RowOf(&known, kind)
	return failureEntry{
		Kind: kind, Provider: row.Provider, Status: row.Status, Code: row.Code, Text: row.Text,
		Was: f.Kind, Learned: at.UTC().Format(time.DateOnly),
	}, err
}

// lesson tells of what was learned or forgotten.
func (n *note) lesson(l *lesson) {
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
	n.row("now", string(l.After), n.ink.cyan)
	n.row(row, l.Row, plain)
	n.row("in", l.File, plain)
	if l.Warning != "" {
		n.row("take care", l.Warning, n.ink.amber)
	}
	if !l.Forgotten {
		n.row("undo", "--forget with the same input, or delete the row", plain)
	}
}
