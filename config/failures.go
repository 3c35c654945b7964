package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/internal/terminal"
	"github.com/mulligan-run/mulligan/internal/yamlfile"
)

// Failure gives a kind to failures that have all of its marks (failure.LocalRow).
type Failure struct {
	Kind     failure.Kind `yaml:"kind"`     // what such a failure is
	Provider string       `yaml:"provider"` // the entry's name
	Status   int          `yaml:"status"`   // the HTTP status
	Code     string       `yaml:"code"`     // the provider's own code
	Text     string       `yaml:"text"`     // words that the message has
	Pattern  string       `yaml:"pattern"`  // a regular expression that the message matches

	// These are told to people about a learned row.
	Was     failure.Kind `yaml:"was"`     // its kind before
	Learned string       `yaml:"learned"` // the day on which it was learned
}

// maxFailures is how many rows a file may have.
const maxFailures = failure.MaxLocalRows / 2

// failureProblem finds the first row that is wrong.
func failureProblem(entries []Failure) *yamlfile.Problem {
	if len(entries) > maxFailures {
		return yamlfile.Problemf("$.failures", "there are %d rows, and at most %d are looked at: remove those that are no longer needed", len(entries), maxFailures)
	}
	_, err := failure.NewLocal(FailureRows(entries, ""))
	wrong, ok := errors.AsType[*failure.LocalError](err)
	if !ok {
		return nil
	}
	at := fmt.Sprintf("$.failures[%d]", wrong.Row)
	if wrong.Field == "kind" && entries[wrong.Row].Kind == "" {
		return yamlfile.Problemf(at, "kind: %v", wrong.Err)
	}
	if wrong.Field != "" {
		at += "." + wrong.Field
	}
	return yamlfile.Problemf(at, "%v", wrong.Err)
}

// FailureRows are the entries of a file as rows for the classifier.
func FailureRows(entries []Failure, file string) []failure.LocalRow {
	rows := make([]failure.LocalRow, len(entries))
	for i, e := range entries {
		rows[i] = failure.LocalRow{
			Kind: e.Kind, Provider: e.Provider, Status: e.Status, Code: e.Code, Text: e.Text, Pattern: e.Pattern,
			Source: "row " + strconv.Itoa(i+1) + " of " + file,
		}
	}
	return rows
}

// marks are the fields by which a row recognises failures.
func (e Failure) marks() Failure {
	return Failure{Provider: e.Provider, Status: e.Status, Code: e.Code, Text: e.Text, Pattern: e.Pattern}
}

// Line is the entry as one line of YAML.
func (e Failure) Line() string {
	parts := []string{"kind: " + string(e.Kind)}
	add := func(key, value string) {
		if value != "" {
			parts = append(parts, key+": "+quoteYAML(value))
		}
	}
	add("provider", e.Provider)
	if e.Status != 0 {
		parts = append(parts, "status: "+strconv.Itoa(e.Status))
	}
	add("code", e.Code)
	add("text", e.Text)
	add("pattern", e.Pattern)
	if e.Was != "" {
		parts = append(parts, "was: "+string(e.Was))
	}
	add("learned", e.Learned)
	return "- {" + strings.Join(parts, ", ") + "}"
}

// quoteYAML quotes a string as JSON does, which YAML reads as well. What would turn the text around where a
// person edits it is escaped.
func quoteYAML(text string) string {
	var b strings.Builder
	e := json.NewEncoder(terminal.JSON(&b))
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // a string can always be encoded
	return strings.TrimSuffix(b.String(), "\n")
}
