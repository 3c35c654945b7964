package explain

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/internal/exit"
	"github.com/mulligan-run/mulligan/internal/terminal"
	"github.com/mulligan-run/mulligan/provider"
)

const (
	maxTableLine  = 16 << 20 // bytes
	batchRows     = 256
	batchBytes    = 1 << 20
	batchesPerCPU = 4 // read but not yet written
)

var (
	// knownColumns are what a row may say about a failure.
	knownColumns = []string{"provider", "model", "status", "code", "headers", "body", "message", "when"}
	// addedColumns are the results.
	addedColumns = []string{"kind", "retryable", "retry_after_ms", "code_out", "evidence"}
)

// columns are the positions of a table's cells.
type columns struct {
	known [8]int // by knownColumns; -1 = there is none
	count int
}

// readColumns reads the header row.
func readColumns(line string) (columns, error) {
	names := strings.Split(line, "\t")
	c := columns{count: len(names)}
	found := 0
	for i := range names {
		names[i] = strings.ToLower(strings.TrimSpace(names[i]))
	}
	for _, name := range addedColumns {
		if slices.Contains(names, name) {
			return c, fmt.Errorf("line 1: there is a column %s already, which explain would add: rename it or leave it out", name)
		}
	}
	for i, name := range knownColumns {
		c.known[i] = slices.Index(names, name)
		if c.known[i] < 0 {
			continue
		}
		found++
		if slices.Contains(names[c.known[i]+1:], name) {
			return c, fmt.Errorf("line 1: there are two columns %s: rename one of them", name)
		}
	}
	if found == 0 {
		return c, fmt.Errorf("line 1 must name the columns, and has none of %s", strings.Join(knownColumns, ", "))
	}
	return c, nil
}

// batch is a number of consecutive lines of a table.
type batch struct {
	columns *columns
	at      time.Time
	local   *failure.Local
	first   int // the number of its first line
	lines   []string
	bytes   int
}

// answered is a batch with its results, up to the first invalid row.
type answered struct {
	text []byte
	rows int
	err  error
}

// DiagnoseTable copies the table from r to w and adds the result columns. The rows are
// processed on all CPUs and written in order; only a few batches are in memory at a
// time. told is called with the number of rows written so far.
func DiagnoseTable(r io.Reader, w io.Writer, at time.Time, local *failure.Local, told func(rows int)) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 64<<10), maxTableLine)
	if !lines.Scan() {
		return tableError(lines.Err(), 1, "the table is empty: its first row must name the columns")
	}
	header := strings.TrimPrefix(lines.Text(), "\ufeff")
	columns, err := readColumns(header)
	if err != nil {
		return exit.Usage(err)
	}
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "%s\t%s\n", header, strings.Join(addedColumns, "\t"))

	queue := make(chan chan answered, batchesPerCPU*runtime.GOMAXPROCS(0))
	done := make(chan error, 1)
	var failed atomic.Bool
	go func() { done <- writeBatches(out, queue, &failed, told) }()
	readErr := readBatches(lines, batch{columns: &columns, at: at, local: local}, func(b batch) bool {
		answer := make(chan answered, 1)
		queue <- answer
		go func() { answer <- b.diagnose() }()
		return !failed.Load()
	})
	close(queue)
	if err := <-done; err != nil {
		return err
	}
	return readErr
}

// readBatches cuts lines into batches with the fields of like, until take returns
// false.
func readBatches(lines *bufio.Scanner, like batch, take func(batch) bool) error {
	b, number := like, 1
	for lines.Scan() {
		number++
		if len(b.lines) == 0 {
			b.first = number
		}
		b.lines = append(b.lines, lines.Text())
		b.bytes += len(lines.Bytes())
		if len(b.lines) < batchRows && b.bytes < batchBytes {
			continue
		}
		if !take(b) {
			return nil
		}
		b = like
	}
	if len(b.lines) > 0 {
		take(b)
	}
	return tableError(lines.Err(), number+1, "")
}

// tableError explains why the line of that number could not be read.
func tableError(err error, line int, otherwise string) error {
	switch {
	case errors.Is(err, bufio.ErrTooLong):
		return exit.Usagef("line %d is longer than %d MiB", line, maxTableLine>>20)
	case err != nil:
		return fmt.Errorf("reading the table: line %d: %w", line, err)
	case otherwise != "":
		return exit.Usage(errors.New(otherwise))
	}
	return nil
}

// writeBatches writes the results in order up to the first error, and drains the rest
// of the queue.
func writeBatches(out *bufio.Writer, queue <-chan chan answered, failed *atomic.Bool, told func(int)) error {
	var first error
	rows := 0
	for answer := range queue {
		a := <-answer
		if first != nil {
			continue
		}
		_, first = out.Write(a.text)
		if first == nil {
			first = a.err
		}
		if first != nil {
			failed.Store(true)
		}
		rows += a.rows
		told(rows)
	}
	return errors.Join(first, out.Flush())
}

func (b *batch) diagnose() answered {
	var a answered
	text := bytes.NewBuffer(make([]byte, 0, b.bytes+len(b.lines)*128))
	for i, line := range b.lines {
		if err := b.columns.diagnose(text, line, b.at, b.local); err != nil {
			a.err = exit.Usage(fmt.Errorf("line %d: %w", b.first+i, err))
			break
		}
		a.rows++
	}
	a.text = text.Bytes()
	return a
}

// diagnose writes a line with its results. An empty line stays empty.
func (c *columns) diagnose(text *bytes.Buffer, line string, at time.Time, local *failure.Local) error {
	if line == "" {
		text.WriteByte('\n')
		return nil
	}
	cells := strings.Split(line, "\t")
	if len(cells) > c.count {
		return fmt.Errorf("there are %d cells under %d columns (a tab inside of a cell is written \\t)", len(cells), c.count)
	}
	r, err := c.report(cells)
	if err != nil {
		return err
	}
	d := local.Diagnose(r.Evidence(at))
	text.WriteString(line)
	text.WriteString(strings.Repeat("\t", c.count-len(cells)))
	for _, cell := range diagnosed(d) {
		text.WriteByte('\t')
		text.WriteString(cell)
	}
	text.WriteByte('\n')
	return nil
}

// report is a row as a Report.
func (c *columns) report(cells []string) (r Report, err error) {
	cell := func(i int) string {
		if at := c.known[i]; at >= 0 && at < len(cells) {
			return meaning(cells[at])
		}
		return ""
	}
	r = Report{Provider: cell(0), Model: cell(1), Code: cell(3), body: unescaped(cell(5)), Message: unescaped(cell(6))}
	if status := cell(2); status != "" && status != "any" {
		if r.Status, err = parseStatus(status); err != nil {
			return r, err
		}
	}
	if when := cell(7); when != "" {
		if r.When, err = parseWhen(when); err != nil {
			return r, err
		}
	}
	r.Header, err = parseHeaders(cell(4))
	r.catalogued()
	return r, err
}

// meaning is a cell as the classifier reads it; placeholders for nothing become "".
func meaning(cell string) string {
	switch cell = strings.TrimSpace(cell); cell {
	case "-", "(empty)", "(any)":
		return ""
	}
	return cell[:min(len(cell), maxReportBody)]
}

// catalogued understands two notations of the fault catalogue for what has no body of
// its own: "Go: …" is an error of Go's net/http; "SSE: …" describes a stream, whose
// first document is its error.
func (r *Report) catalogued() {
	for _, lead := range []string{"→ Go: ", ") Go: ", "Go: "} {
		before, said, ok := strings.Cut(r.body, lead)
		if ok && (lead != "Go: " || before == "") {
			r.body = ""
			if r.Message == "" {
				r.Message = said
			}
			return
		}
	}
	if strings.HasPrefix(r.body, "SSE") {
		_, document, ok := strings.Cut(r.body, "{")
		if r.body = ""; ok {
			r.body = "{" + document
		}
	}
}

// parseHeaders reads "name: value; name: value". A part without a name belongs to the
// value before it, as in "content-type: text/html; charset=utf-8". Text in parentheses
// is a remark.
func parseHeaders(cell string) (http.Header, error) {
	if cell == "" || strings.HasPrefix(cell, "(") {
		return nil, nil
	}
	h := http.Header{}
	line := ""
	for part := range strings.SplitSeq(cell, "; ") {
		name, _, ok := strings.Cut(part, ":")
		if line != "" && (!ok || strings.ContainsAny(name, " =\"")) {
			line += "; " + part
			continue
		}
		if line != "" {
			if err := addHeader(h, line); err != nil {
				return nil, err
			}
		}
		line = part
	}
	return h, addHeader(h, line)
}

// unescaped replaces \n, \r and \t outside of JSON strings.
func unescaped(cell string) string {
	if !strings.Contains(cell, `\`) {
		return cell
	}
	var b strings.Builder
	b.Grow(len(cell))
	inString := false
	for i := 0; i < len(cell); i++ {
		c := cell[i]
		if c == '"' {
			inString = !inString
		}
		if c != '\\' || i+1 == len(cell) {
			b.WriteByte(c)
			continue
		}
		i++
		if plain, ok := escapes[cell[i]]; ok && !inString {
			b.WriteByte(plain)
			continue
		}
		b.WriteByte(c)
		b.WriteByte(cell[i])
	}
	return b.String()
}

var escapes = map[byte]byte{'n': '\n', 'r': '\r', 't': '\t'}

// diagnosed are the added cells of a row.
func diagnosed(d failure.Diagnosis) [5]string {
	f := d.Failure
	wait := ""
	if f.RetryAfter > 0 {
		wait = strconv.FormatInt(int64(f.RetryAfter), 10)
	}
	var clues []string
	for _, c := range d.Evidence {
		clues = append(clues, c.String())
	}
	evidence := provider.Redact(terminal.OneLine(strings.Join(clues, "; ")))
	return [5]string{string(f.Kind), retryWord(f), wait, string(f.Code), evidence}
}
