package catalogue

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
)

//go:embed faults.tsv
var table string

// columns is the number of columns of the table.
const columns = 11

// Row is one fault, in the words of the catalogue.
type Row struct {
	ID          string // such as "A03"
	Provider    string // the provider that has the fault; "*" = any
	Kind        string // the kind of the failure; "-" = no failure, or one that depends on a code or status
	Status      string // of HTTP; "-" = none, "any" = any
	Headers     string // separated by "; "; "-" = none of interest
	Body        string // the body, or what a stream does
	When        string // "headers", "mid-stream", …
	Class       string // finer than Kind
	Retryable   string // "yes", "no", "once", "after_repair", "after_refresh", "switch", "suspend", …
	RightAction string // what a client should do
	Source      string // how it is known
}

// Rows returns the whole catalogue, in order.
func Rows() []Row { return slices.Clone(loadRows()) }

// Find returns the row of that id.
func Find(id string) (Row, bool) {
	rows := loadRows()
	if i := slices.IndexFunc(rows, func(r Row) bool { return r.ID == id }); i >= 0 {
		return rows[i], true
	}
	return Row{}, false
}

var loadRows = sync.OnceValue(func() []Row {
	var rows []Row
	for i, line := range strings.Split(strings.TrimSuffix(table, "\n"), "\n") {
		c := strings.Split(line, "\t")
		if len(c) != columns {
			panic("catalogue: faults.tsv has a line with another number of columns: " + line)
		}
		if i > 0 { // the first line names the columns
			rows = append(rows, Row{c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7], c[8], c[9], c[10]})
		}
	}
	return rows
})

// expectation is what the columns say about the failure.
func (r Row) expectation() Expectation {
	e := Expectation{Kind: r.Kind}
	retryable := r.Retryable == "yes" || r.Retryable == "once"
	switch r.Retryable {
	case "yes", "once", "no", "after_repair", "after_refresh", "switch":
		e.Retryable = &retryable
	case "suspend": // not before the reset for a quota, after a wait for everything else
		retryable = r.Kind != "quota"
		e.Retryable = &retryable
	}
	return e
}

// isKind reports whether any row has that kind.
func isKind(kind string) bool {
	return kind != "-" && slices.ContainsFunc(loadRows(), func(r Row) bool { return r.Kind == kind })
}
