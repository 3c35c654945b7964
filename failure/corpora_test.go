package failure

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// corpus is a table of real errors with the right kinds for each: source, status, code, message,
// kinds and, for some, why they are right.
type corpus struct {
	name, file, what string
	firstSight       string // the result when the rows were first seen
}

var corpora = []corpus{
	{"given", "errors.tsv", "half of the messages of one large agent's tests", "391 of 488, with the half that is kept aside"},
	{"yours", "gathered.tsv", "messages of trackers, SDKs, documents and translations in twelve languages, from which the rules learned", "466 of the first 575 (81.0 %)"},
	{"blind", "blind.tsv", "the same harvest, of sources that no rule had learned from when it was first classified", "265 of 296 (89.5 %), 3 of the mistakes dangerous; the rules before these: 231 (78.0 %)"},
	{"fresh", "fresh.tsv", "half of another harvest, by source, which the rules of that day saw once before anything was learned from it", "143 of 164 (87.2 %), 5 of the mistakes dangerous"},
	{"sealed", "sealed.tsv", "the other half of that harvest, which no rule had learned from when it was run once, at the very end", "155 of 167 (92.8 %), 5 of the mistakes dangerous; the rules before: as many, and the same"},
	{"unseen", "unseen.tsv", "a later harvest of sources that are in none of the others, half of it not English, labelled with its reasons before any rule was asked", "188 of 235 (80.0 %), 6 of the mistakes dangerous; the rules before these: 186 (79.1 %), 7 dangerous"},
	{"again", "again.tsv", "one more harvest of that sort, of sources that are in none of the others, after the rules had learned from unseen", "82 of 98 (83.7 %), 1 of the mistakes dangerous; the rules before unseen: 79 (80.6 %), the same one dangerous"},
	{"third", "third.tsv", "a third harvest of that sort, of 53 sources that are in none of the others, three in five not English, after the words of eighteen languages had been learned", "129 of 152 (84.9 %), 2 of the mistakes dangerous; the rules before those words: 129, the same two dangerous"},
	{"fourth", "fourth.tsv", "a harvest of agents, gateways and providers' documents, of 38 sources that are in none of the others, nearly all English", "152 of 168 (90.5 %), 3 of the mistakes dangerous"},
	{"fifth", "fifth.tsv", "one more harvest of that sort, of 54 other sources, after the rules had learned from the fourth and from what providers document", "123 of 138 (89.1 %), none of the mistakes dangerous; the rules before: 122, none dangerous"},
	{"sixth", "sixth.tsv", "a last, small one, of what clients and gateways say of their own more than of what providers say, for the rules that had learned from all of the above", "33 of 48 (68.8 %), 5 of the mistakes dangerous; the rules before the fourth: 33, the same five dangerous"},
	{"seventh", "seventh.tsv", "a harvest of how other agents' tests and trackers tell errors, of 124 files and threads that are in none of the others, by the kinds that the given ones have, a fifth not English", "168 of 198 (84.8 %), 7 of the mistakes dangerous; the rules before the fourth: 166, 7 dangerous"},
	{"eighth", "eighth.tsv", "a small one, half not English, after the rules had learned from the seventh", "54 of 64 (84.4 %), 2 of the mistakes dangerous; the rules before the seventh: 53, the same two dangerous"},
	{"ninth", "ninth.tsv", "one more small one, of money, limits, keys and lengths, after the rules had learned from the eighth and from 232 sentences made up for the purpose", "35 of 39 (89.7 %), 1 of the mistakes dangerous; the rules before the seventh: as many, and the same"},
	{"tenth", "tenth.tsv", "small gateways' documents, what apps say of their own in sixteen languages, and trackers of agents and servers: 114 sources that are in none of the others, half of it not English", "143 of 187 (76.5 %), 3 of the mistakes dangerous; the rules before the tables of meanings and of names: 136 (72.7 %), 3 dangerous"},
	{"eleventh", "eleventh.tsv", "a small one of that sort, of 51 other sources, after the rules had learned from the tenth", "59 of 68 (86.8 %), none of the mistakes dangerous; the rules before the tenth: 53 (77.9 %), none dangerous"},
	{"twelfth", "twelfth.tsv", "how the tests of agents, gateways and wrappers of CLIs tell errors, nine in ten English: 74 sources that are in none of the others, after messages were read without what programs put around them", "158 of 177 (89.3 %), 1 of the mistakes dangerous; the rules before: as many, and the same"},
	{"thirteenth", "thirteenth.tsv", "how runners of agents, their CLIs and small apps tell errors, a quarter not English: 107 sources that are in none of the others", "167 of 193 (86.5 %), 1 of the mistakes dangerous"},
	{"fourteenth", "fourteenth.tsv", "the clients that small programs wrote themselves, their classifiers' tests, and gateways' documents, two in five not English: 129 sources that are in none of the others", "142 of 174 (81.6 %), 6 of the mistakes dangerous; the rules before: as many, and the same"},
	{"fifteenth", "fifteenth.tsv", "how large agents' own tests, trackers of agents and gateways' documents tell errors, without what was near to a known row; three in ten not English: 118 sources, nearly all of which are in none of the others", "174 of 192 (90.6 %), 5 of the mistakes dangerous"},
}

// corpusRow is one real error.
type corpusRow struct {
	line                  int
	source, message, code string
	kinds                 []string
	e                     Evidence
}

func (c corpus) rows(t *testing.T) []corpusRow {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", c.file))
	if err != nil {
		t.Fatal(err)
	}
	var rows []corpusRow
	for i, line := range strings.Split(strings.TrimRight(string(data), "\n"), "\n") {
		cells := strings.Split(line, "\t")
		if len(cells) != 5 && len(cells) != 6 {
			t.Fatalf("%s:%d has %d columns", c.file, i+1, len(cells))
		}
		if i == 0 {
			continue
		}
		rows = append(rows, corpusRow{i + 1, cells[0], cells[3], cells[2], strings.Fields(cells[4]), reported(t, cells[1], cells[2], cell(cells[3]))})
	}
	return rows
}

// The kinds for which a mistake can do harm.
var (
	neverRepeated = []Kind{KindAuth, KindBilling, KindInvalidRequest, KindContentFilter}
	willPass      = []Kind{KindTimeout, KindUnreachable, KindRateLimit, KindOverloaded, KindUnavailable, KindStreamInterrupted, KindMalformedResponse, KindEmptyResponse}
)

// isDangerous reports whether it does harm to classify a failure of the right kind as f: a request
// that must not be repeated is repeated again and again; a problem that would pass is given up; or
// an overflow is sent again without being shortened, for ever. Kinds that are retried only once
// (unknown) repeat nothing, and a quota, which has a reset, gives nothing up.
func isDangerous(right Kind, f *Failure) bool {
	switch {
	case right == f.Kind:
		return false
	case right == KindContextOverflow:
		return true
	case slices.Contains(neverRepeated, right):
		return f.Retryable && !f.Kind.Once()
	case slices.Contains(willPass, right):
		return !f.Retryable && f.Kind != KindQuota
	}
	return false
}

// score is the result for a corpus.
type score struct {
	rows, right, dangerous int
	cells                  map[[2]Kind]int // by the right kind and the given one
	took                   []time.Duration
}

func (c corpus) score(t *testing.T) score {
	s := score{cells: map[[2]Kind]int{}}
	for _, row := range c.rows(t) {
		start := time.Now()
		f := Classify(row.e)
		s.took = append(s.took, time.Since(start))
		s.rows++
		right := Kind(row.kinds[0])
		if slices.Contains(row.kinds, string(f.Kind)) {
			right = f.Kind
			s.right++
		}
		s.cells[[2]Kind{right, f.Kind}]++
		if !slices.ContainsFunc(row.kinds, func(kind string) bool { return !isDangerous(Kind(kind), f) }) {
			s.dangerous++
			t.Logf("DANGEROUS %s:%d: %s, want %s: %q", c.file, row.line, f.Kind, row.kinds, row.message)
		}
	}
	slices.Sort(s.took)
	return s
}

func (s score) percent() float64 { return 100 * float64(s.right) / float64(s.rows) }

// TestCorpora writes the results for each corpus to testdata/corpora.md, which the report of
// bench/faults includes, and requires that no mistake is dangerous.
func TestCorpora(t *testing.T) {
	var b strings.Builder
	b.WriteString("| corpus | what it is | errors | right at first sight | right now | dangerous mistakes |\n|---|---|---|---|---|---|\n")
	var matrices strings.Builder
	for _, c := range corpora {
		s := c.score(t)
		fmt.Fprintf(&b, "| %s | %s | %d | %s | %d (%.1f %%) | %d |\n", c.name, c.what, s.rows, c.firstSight, s.right, s.percent(), s.dangerous)
		fmt.Fprintf(&matrices, "\n### What the mistakes are: %s\n\n%s", c.name, s.matrix())
		t.Logf("%s: %d of %d right (%.1f %%), %d dangerous; %d µs for a message (p50), %d µs (p99)", c.name, s.right, s.rows, s.percent(), s.dangerous,
			s.took[len(s.took)/2].Microseconds(), s.took[len(s.took)*99/100].Microseconds())
		if s.dangerous > 0 {
			t.Errorf("%s: %d dangerous mistakes", c.name, s.dangerous)
		}
	}
	golden(t, filepath.Join("testdata", "corpora.md"), b.String()+matrices.String()+firstMistakes(t, "blind")+firstMistakes(t, "sealed")+firstMistakes(t, "unseen")+firstMistakes(t, "again")+firstMistakes(t, "third")+firstMistakes(t, "fourth")+firstMistakes(t, "fifth")+firstMistakes(t, "sixth")+firstMistakes(t, "seventh")+firstMistakes(t, "eighth")+firstMistakes(t, "ninth")+firstMistakes(t, "tenth")+firstMistakes(t, "eleventh")+firstMistakes(t, "twelfth")+firstMistakes(t, "thirteenth")+firstMistakes(t, "fourteenth")+firstMistakes(t, "fifteenth"))
}

// firstMistakes lists a corpus's mistakes when it was first classified. The list is a record, and
// is never corrected.
func firstMistakes(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name+"-at-first-sight.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n### What was wrong of the %s ones at first sight\n\n| status | message | right | given |\n|---|---|---|---|\n", name)
	for _, line := range strings.Split(strings.TrimRight(string(data), "\n"), "\n")[1:] {
		cells := strings.Split(line, "\t")
		if len(cells) != 5 {
			t.Fatalf("%s-at-first-sight.tsv: %q", name, line)
		}
		message := strings.NewReplacer("|", "\\|", "`", "'", "<", "‹", ">", "›").Replace(strings.TrimSpace(cells[1] + " " + cells[2]))
		fmt.Fprintf(&b, "| %s | `%s` | %s | %s |\n", cells[0], message, cells[3], cells[4])
	}
	return b.String()
}

// matrix is the confusion matrix: a row for each right kind, a column for each given one. Kinds
// that were neither mistaken for another nor given by mistake share a line.
func (s score) matrix() string {
	var rows, columns []Kind
	clean := 0
	for _, kind := range Kinds() {
		wrong := false
		for cell, n := range s.cells {
			wrong = wrong || n > 0 && cell[0] != cell[1] && (cell[0] == kind || cell[1] == kind)
		}
		switch {
		case wrong:
			rows, columns = append(rows, kind), append(columns, kind)
		default:
			clean += s.cells[[2]Kind{kind, kind}]
		}
	}
	var b strings.Builder
	if len(rows) > 0 {
		b.WriteString("| right ╲ given |")
		for _, kind := range columns {
			fmt.Fprintf(&b, " %s |", kind)
		}
		b.WriteString("\n|---" + strings.Repeat("|---", len(columns)) + "|\n")
	}
	for _, right := range rows {
		fmt.Fprintf(&b, "| **%s** |", right)
		for _, given := range columns {
			if n := s.cells[[2]Kind{right, given}]; n > 0 {
				fmt.Fprintf(&b, " %d |", n)
			} else {
				b.WriteString(" |")
			}
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "\n%d more are of kinds that nothing was mistaken for, or taken for another.\n", clean)
	return b.String()
}

// TestDangerous checks which mistakes count as dangerous.
func TestDangerous(t *testing.T) {
	for _, tt := range []struct {
		right, given Kind
		want         bool
	}{
		{KindAuth, KindUnavailable, true},
		{KindBilling, KindRateLimit, true},
		{KindInvalidRequest, KindTimeout, true},
		{KindContentFilter, KindOverloaded, true},
		{KindAuth, KindUnknown, false}, // retried once
		{KindAuth, KindBilling, false},
		{KindUnavailable, KindModelNotFound, true},
		{KindUnavailable, KindContextOverflow, true},
		{KindRateLimit, KindBilling, true},
		{KindRateLimit, KindQuota, false}, // it has a reset
		{KindOverloaded, KindUnavailable, false},
		{KindContextOverflow, KindInvalidRequest, true},
		{KindContextOverflow, KindUnknown, true},
		{KindModelNotFound, KindMisconfigured, false},
	} {
		if got := isDangerous(tt.right, NewFailure(tt.given, OriginModel, "", nil)); got != tt.want {
			t.Errorf("%s called %s: dangerous %v", tt.right, tt.given, got)
		}
	}
}
