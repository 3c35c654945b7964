package failure

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Limits of a Local and its rows.
const (
	MaxLocalRows    = 1000
	maxLocalCode    = 128 // bytes
	maxLocalText    = 500 // bytes, of a text or a pattern
	maxLocalSource  = 150 // bytes, so that it fits into a Clue
	leastLocalWords = 4   // bytes of letters that a text must have to identify anything
)

// Classifier makes a Failure of any evidence: [Classify], or [Local.Classify] of a table that may
// change between calls.
type Classifier func(Evidence) *Failure

// LocalRow gives its kind to every failure that matches all of its fields. Empty fields are not
// compared. A provider alone is not enough.
type LocalRow struct {
	Kind     Kind   // one of LocalKinds
	Provider string // the entry's name
	Status   int    // an HTTP status, or one that the body names
	Code     string // one of the provider's codes, in upper or lower case
	Text     string // words in the provider's message, in upper or lower case; # and any word with a digit match any word with a digit
	Pattern  string // an RE2 pattern that matches part of the provider's message
	Source   string // where the row is written, for people: "row 2 of mulligan.yaml"
}

// Local is a table of what its owner knows better than [Classify]: the first row that matches a
// failure decides its kind. It is immutable; nil has no rows.
type Local struct{ rows []localRow }

type localRow struct {
	LocalRow
	code, text string // in the form in which they are compared
	pattern    *regexp.Regexp
}

// LocalError says what is wrong with a row.
type LocalError struct {
	Row   int    // from 0
	Field string // in lower case, as in LocalRow; "" = the whole row
	Err   error
}

// Error names the row.
func (e *LocalError) Error() string {
	at := fmt.Sprintf("row %d", e.Row)
	if e.Field != "" {
		at += ", " + e.Field
	}
	return at + ": " + e.Err.Error()
}

// Unwrap gives the error without the row.
func (e *LocalError) Unwrap() error { return e.Err }

// NewLocal makes a table of at most MaxLocalRows rows; the first that matches decides. Its error is
// a *LocalError.
func NewLocal(rows []LocalRow) (*Local, error) {
	if len(rows) > MaxLocalRows {
		return nil, &LocalError{Row: MaxLocalRows, Err: fmt.Errorf("there are %d rows, and at most %d are looked at: remove those that are no longer needed", len(rows), MaxLocalRows)}
	}
	l := &Local{rows: make([]localRow, 0, len(rows))}
	for i, r := range rows {
		compiled, field, err := r.compile()
		if err != nil {
			return nil, &LocalError{Row: i, Field: field, Err: err}
		}
		l.rows = append(l.rows, compiled)
	}
	return l, nil
}

// compile checks a row; if it returns an error, field is the name of the field.
func (r LocalRow) compile() (c localRow, field string, err error) {
	c = localRow{LocalRow: r, code: strings.ToLower(strings.TrimSpace(r.Code)), text: sameWords(r.Text)}
	if _, err := ParseLocalKind(string(r.Kind)); err != nil {
		return c, "kind", err
	}
	switch {
	case r.Status != 0 && (r.Status < 100 || r.Status > 599):
		return c, "status", fmt.Errorf("%d is no HTTP status, which is a number from 100 to 599", r.Status)
	case len(r.Code) > maxLocalCode:
		return c, "code", fmt.Errorf("it is longer than %d bytes", maxLocalCode)
	case len(r.Text) > maxLocalText:
		return c, "text", fmt.Errorf("it is longer than %d bytes: a few words that are always there are enough", maxLocalText)
	case r.Text != "" && letters(c.text) < leastLocalWords:
		return c, "text", errors.New("it is too short to tell one failure from others: numbers do not count, and a few words are needed")
	case len(r.Pattern) > maxLocalText:
		return c, "pattern", fmt.Errorf("it is longer than %d bytes", maxLocalText)
	}
	if r.Pattern != "" {
		if c.pattern, err = regexp.Compile(r.Pattern); err != nil {
			return c, "pattern", err
		}
		if c.pattern.MatchString("") {
			return c, "pattern", errors.New("it finds something in every text, also in none")
		}
	}
	if c.code == "" && c.text == "" && c.pattern == nil && (r.Status == 0 || r.Provider == "") {
		return c, "", errors.New("it needs a code, a text or a pattern to know a failure by, or a status with a provider")
	}
	return c, "", nil
}

func letters(folded string) int {
	n := 0
	for i := range len(folded) {
		if c := folded[i]; c >= utf8.RuneSelf || c >= 'a' && c <= 'z' {
			n++
		}
	}
	return n
}

// Classify is the package's Classify, except that a row that matches decides the kind.
func (l *Local) Classify(e Evidence) *Failure {
	row := l.find(&e)
	f := Classify(e)
	if row == nil || row.Kind == f.Kind {
		return f
	}
	e.Kind = row.Kind
	f = Classify(e)
	f.Row = oneLine(row.Source, maxLocalSource)
	return f
}

// Diagnose is the package's Diagnose, except that a row that matches decides the kind. The first
// clue then names the row, and the runner-up is the kind without it. A Failure made by code that
// knew what happened is left as it is, and so is one of a prompt or a tool.
func (l *Local) Diagnose(e Evidence) Diagnosis {
	plain, row := Diagnose(e), l.find(&e)
	if row == nil {
		return plain
	}
	clue := Clue{Source: ClueLocal, Where: oneLine(row.Source, maxLocalSource), Value: string(row.Kind)}
	if row.Kind == plain.Failure.Kind {
		clue.Note = NoteSeen
		plain.Evidence = append(plain.Evidence, clue)
		return plain
	}
	e.Kind = row.Kind
	d := Diagnose(e)
	d.Evidence[0] = clue.sure("")
	was := plain.Evidence[0]
	was.Decided = false
	d.Confidence, d.RunnerUp = certain, &Candidate{Kind: plain.Failure.Kind, Confidence: plain.Confidence, By: was}
	return d
}

// Fits reports whether a row matches the failure.
func (l *Local) Fits(e Evidence) bool { return l.find(&e) != nil }

// find is the first row that matches; nil if none does.
func (l *Local) find(e *Evidence) *localRow {
	if l == nil || len(l.rows) == 0 || e.Phase == PhasePrompt || e.Phase == PhaseTool {
		return nil
	}
	if _, made := AsFailure(e.Err); made {
		return nil
	}
	c := gather(e)
	entry, _, _ := strings.Cut(e.Model, "/")
	provider, detail := cmp.Or(e.Provider, entry), c.detail()
	said := sameWords(detail)
	for i := range l.rows {
		if l.rows[i].fits(c, provider, detail, said) {
			return &l.rows[i]
		}
	}
	return nil
}

func (r *localRow) fits(c *reading, provider, detail, said string) bool {
	return (r.Provider == "" || r.Provider == provider) &&
		(r.Status == 0 || r.Status == c.e.Status || r.Status == c.status) &&
		(r.code == "" || slices.ContainsFunc(c.codes, func(have providerCode) bool { return have.lower == r.code })) &&
		strings.Contains(said, r.text) &&
		(r.pattern == nil || r.pattern.MatchString(detail))
}

// LocalKinds are the kinds that a provider's failure can have, in the order of Kinds. Failures of
// the other kinds were seen by Mulligan itself, so no table knows better.
func LocalKinds() []Kind {
	return slices.DeleteFunc(Kinds(), func(k Kind) bool { return ofKind[k].own })
}

// ParseLocalKind reads one of LocalKinds; "rate limit" and "Rate-Limit" mean rate_limit. The error
// suggests the nearest kind, if one is near.
func ParseLocalKind(name string) (Kind, error) {
	kind := Kind(strings.NewReplacer(" ", "_", "-", "_").Replace(strings.ToLower(strings.TrimSpace(name))))
	known := LocalKinds()
	switch {
	case slices.Contains(known, kind):
		return kind, nil
	case name == "":
		return "", fmt.Errorf("it is missing; there are: %s", listed(known))
	case slices.Contains(Kinds(), kind):
		return "", fmt.Errorf("%s is never what a provider says; there are: %s", kind, listed(known))
	}
	nearest := slices.MinFunc(known, func(a, b Kind) int { return distance(string(kind), string(a)) - distance(string(kind), string(b)) })
	if distance(string(kind), string(nearest)) > len(kind)/2 && !strings.HasPrefix(string(kind), string(nearest)) {
		return "", fmt.Errorf("there is no kind %q; there are: %s", oneLine(name, 40), listed(known))
	}
	return "", fmt.Errorf("there is no kind %q: did you mean %s? There are: %s", oneLine(name, 40), nearest, listed(known))
}

func listed(kinds []Kind) string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = string(k)
	}
	return strings.Join(names, ", ")
}

// distance is how many letters must be inserted, deleted or replaced to turn the first 40 bytes
// of a into b.
func distance(a, b string) int {
	a = a[:min(len(a), 40)]
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal, row[j+1] = row[j+1], min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
