package failure_test

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/failure"
)

func local(t *testing.T, rows ...failure.LocalRow) *failure.Local {
	t.Helper()
	l, err := failure.NewLocal(rows)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func body(status int, text string) failure.Evidence {
	return failure.Evidence{Provider: "acme", Status: status, Body: []byte(text)}
}

// TestLocalWins has a row for each field, with failures that match it and failures that do not.
func TestLocalWins(t *testing.T) {
	said := body(429, `{"error":{"type":"rate_limit_error","code":"Plan_Limit","message":"You have used 12,345 of 20,000 units of team-7 (me@example.com)."}}`)
	for name, tt := range map[string]struct {
		row  failure.LocalRow
		fits bool
	}{
		"code":                 {failure.LocalRow{Code: "plan_limit"}, true},
		"a code beside":        {failure.LocalRow{Code: "RATE_LIMIT_ERROR"}, true},
		"half a code":          {failure.LocalRow{Code: "plan"}, false},
		"text":                 {failure.LocalRow{Text: "YOU HAVE used"}, true},
		"text, other numbers":  {failure.LocalRow{Text: "used 7 of 1,000,000 units of x1 ("}, true},
		"text with marks":      {failure.LocalRow{Text: "used # of # units"}, true},
		"other words":          {failure.LocalRow{Text: "used # of # tokens"}, false},
		"pattern":              {failure.LocalRow{Pattern: `^You .* units`}, true},
		"pattern, its case":    {failure.LocalRow{Pattern: `^you`}, false},
		"status and provider":  {failure.LocalRow{Status: 429, Provider: "acme"}, true},
		"another status":       {failure.LocalRow{Status: 430, Code: "plan_limit"}, false},
		"another provider":     {failure.LocalRow{Provider: "acme-2", Code: "plan_limit"}, false},
		"all of it":            {failure.LocalRow{Provider: "acme", Status: 429, Code: "plan_limit", Text: "units of", Pattern: "units"}, true},
		"all but one":          {failure.LocalRow{Provider: "acme", Status: 429, Code: "plan_limit", Text: "units of", Pattern: "bananas"}, false},
		"a text in the answer": {failure.LocalRow{Text: "rate_limit_error"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			tt.row.Kind = failure.KindBilling
			tt.row.Source = "row 1 of mulligan.yaml"
			d := local(t, tt.row).Diagnose(said)
			want := failure.Classify(said).Kind
			if tt.fits {
				want = failure.KindBilling
			}
			if d.Failure.Kind != want || d.Failure.Code != want.Code() || d.Failure.Retryable != want.Retryable() {
				t.Errorf("it is %s (%s, %v), want %s", d.Failure.Kind, d.Failure.Code, d.Failure.Retryable, want)
			}
			if by := d.Evidence[0]; tt.fits != (by.Source == failure.ClueLocal && by.Decided && strings.Contains(by.String(), "row 1 of mulligan.yaml")) {
				t.Errorf("decided by %q", by)
			}
		})
	}
}

// A row changes the kind only. Everything else still comes from the answer: Retry-After, and what
// else was found.
func TestLocalKeepsWhatElseIsKnown(t *testing.T) {
	e := body(400, `{"error":{"code":"slow_lane","message":"Not now."}}`)
	e.Header = map[string][]string{"Retry-After": {"7"}, "X-Request-Id": {"req-1"}}
	d := local(t, failure.LocalRow{Kind: failure.KindRateLimit, Code: "slow_lane"}).Diagnose(e)
	f := d.Failure
	if f.Kind != failure.KindRateLimit || f.RetryAfter.Duration() != 7*time.Second || f.RequestID != "req-1" || f.ProviderCode != "slow_lane" || f.Detail != "Not now." {
		t.Errorf("%+v", f)
	}
	if !strings.Contains(f.Title, "slow down") {
		t.Errorf("people read %q", f.Title)
	}
	if was := d.RunnerUp; d.Confidence != 100 || was == nil || was.Kind != failure.KindInvalidRequest || was.By.Decided || was.By.Value != "400" {
		t.Errorf("%d, and what it would have been is %+v", d.Confidence, was)
	}
}

// The first matching row decides, and a row that gives the kind that was given anyway changes
// nothing.
func TestLocalOrder(t *testing.T) {
	rows := []failure.LocalRow{
		{Kind: failure.KindOverloaded, Code: "busy", Status: 500, Source: "a"},
		{Kind: failure.KindAuth, Code: "busy", Source: "b"},
		{Kind: failure.KindBilling, Text: "add money", Source: "c"},
	}
	l := local(t, rows...)
	for _, tt := range []struct {
		e    failure.Evidence
		want failure.Kind
	}{
		{body(500, `{"code":"busy"}`), failure.KindOverloaded},
		{body(400, `{"code":"busy"}`), failure.KindAuth},
		{body(402, `{"message":"please add money"}`), failure.KindBilling},
	} {
		if got := l.Classify(tt.e); got.Kind != tt.want {
			t.Errorf("%s: %s, want %s", tt.e.Body, got.Kind, tt.want)
		}
	}
	plain := failure.Diagnose(body(402, `{"message":"please add money"}`))
	same := l.Diagnose(body(402, `{"message":"please add money"}`))
	last := same.Evidence[len(same.Evidence)-1]
	if same.Evidence[0] != plain.Evidence[0] || last.Source != failure.ClueLocal || last.Decided || last.Where != "c" {
		t.Errorf("%+v", same.Evidence)
	}
}

// Only what a provider says can be corrected.
func TestLocalLeavesAlone(t *testing.T) {
	l := local(t, failure.LocalRow{Kind: failure.KindOverloaded, Pattern: "(?i)no"})
	made := failure.NewFailure(failure.KindBilling, failure.OriginModel, failure.PhaseMidStream, errors.New("no"))
	for name, e := range map[string]failure.Evidence{
		"a failure": {Err: made}, "a prompt": {Err: errors.New("no"), Phase: failure.PhasePrompt, Kind: failure.KindPromptFailure},
		"a tool": {Err: errors.New("no"), Phase: failure.PhaseTool, Kind: failure.KindToolFailure},
	} {
		if got := l.Classify(e); got.Kind == failure.KindOverloaded {
			t.Errorf("%s became %s", name, got.Kind)
		}
	}
	if got := (*failure.Local)(nil).Classify(body(429, "")); got.Kind != failure.KindRateLimit {
		t.Errorf("no table: %s", got.Kind)
	}
}

func TestLocalRefuses(t *testing.T) {
	long := strings.Repeat("long ", 101) // 505 bytes
	for name, tt := range map[string]struct {
		row        failure.LocalRow
		field, why string
	}{
		"no kind":          {failure.LocalRow{Code: "x"}, "kind", "missing"},
		"a wrong kind":     {failure.LocalRow{Kind: "rate_limt", Code: "x"}, "kind", "did you mean rate_limit?"},
		"a runner's kind":  {failure.LocalRow{Kind: failure.KindToolFailure, Code: "x"}, "kind", "never what a provider says"},
		"nothing":          {failure.LocalRow{Kind: failure.KindAuth}, "", "needs a code"},
		"a provider":       {failure.LocalRow{Kind: failure.KindAuth, Provider: "acme"}, "", "needs a code"},
		"a status":         {failure.LocalRow{Kind: failure.KindAuth, Status: 400}, "", "with a provider"},
		"no status":        {failure.LocalRow{Kind: failure.KindAuth, Status: 4000, Code: "x"}, "status", "100 to 599"},
		"numbers":          {failure.LocalRow{Kind: failure.KindAuth, Text: "2026-04-01 429 req_1"}, "text", "too short"},
		"a long text":      {failure.LocalRow{Kind: failure.KindAuth, Text: long}, "text", "longer"},
		"a long pattern":   {failure.LocalRow{Kind: failure.KindAuth, Pattern: long}, "pattern", "longer"},
		"a long code":      {failure.LocalRow{Kind: failure.KindAuth, Code: long}, "code", "longer"},
		"a broken pattern": {failure.LocalRow{Kind: failure.KindAuth, Pattern: "("}, "pattern", "missing closing"},
		"an empty pattern": {failure.LocalRow{Kind: failure.KindAuth, Pattern: "a*"}, "pattern", "every text"},
	} {
		_, err := failure.NewLocal([]failure.LocalRow{{Kind: failure.KindAuth, Code: "fine"}, tt.row})
		var wrong *failure.LocalError
		if !errors.As(err, &wrong) || wrong.Row != 1 || wrong.Field != tt.field || !strings.Contains(err.Error(), tt.why) {
			t.Errorf("%s: %v (%+v)", name, err, wrong)
		}
	}
	if _, err := failure.NewLocal(make([]failure.LocalRow, failure.MaxLocalRows+1)); err == nil {
		t.Error("a table of any length is taken")
	}
}

func TestParseLocalKind(t *testing.T) {
	for name, want := range map[string]failure.Kind{
		"rate_limit": failure.KindRateLimit, "Rate Limit": failure.KindRateLimit, " context-overflow ": failure.KindContextOverflow,
	} {
		if got, err := failure.ParseLocalKind(name); got != want || err != nil {
			t.Errorf("%q: %s, %v", name, got, err)
		}
	}
	for name, near := range map[string]string{"ratelimit": "rate_limit", "authentication": "auth", "overload": "overloaded", "quotta": "quota"} {
		if _, err := failure.ParseLocalKind(name); err == nil || !strings.Contains(err.Error(), "did you mean "+near+"?") {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, far := range []string{"bogus", "x", "weather"} {
		if _, err := failure.ParseLocalKind(far); err == nil || strings.Contains(err.Error(), "did you mean") || !strings.Contains(err.Error(), "there are: timeout") {
			t.Errorf("%q: %v", far, err)
		}
	}
}

// learnable are the real messages of testdata/errors.tsv, as bodies if they have a code.
func learnable(t *testing.T) []failure.Evidence {
	t.Helper()
	table, err := os.ReadFile("testdata/errors.tsv")
	if err != nil {
		t.Fatal(err)
	}
	var all []failure.Evidence
	for line := range strings.Lines(string(table)) {
		cells := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		e := failure.Evidence{Provider: "acme", Err: errors.New(cells[3])}
		if code := cells[2]; code != "" {
			document, _ := json.Marshal(map[string]string{"code": code, "message": cells[3]})
			e = body(400, string(document))
		}
		all = append(all, e)
	}
	return all[1:]
}

// TestRowOfEveryMessage learns each of the real messages as another kind: the resulting row matches
// the message that it was made from, and contains none of its numbers.
func TestRowOfEveryMessage(t *testing.T) {
	n := 0
	for _, e := range learnable(t) {
		before := failure.Classify(e)
		kind := failure.KindBilling
		if before.Kind == kind {
			kind = failure.KindOverloaded
		}
		row, err := failure.RowOf(before, kind)
		if err != nil {
			if letters := strings.ContainsFunc(before.Detail, func(r rune) bool { return r >= 'a' && r <= 'z' || r > 127 }); letters {
				t.Errorf("%q: %v", before.Detail, err)
			}
			continue
		}
		n++
		if after := local(t, row).Classify(e); after.Kind != kind {
			t.Errorf("%+v does not fit %q (%d, %s)", row, before.Detail, before.HTTPStatus, before.ProviderCode)
		}
		if len(row.Text) > 120 || strings.ContainsAny(row.Text, "0123456789@") {
			t.Errorf("the row has the text %q", row.Text)
		}
	}
	if n < 200 {
		t.Errorf("only %d messages were learned", n)
	}
}

func TestRowOf(t *testing.T) {
	f := failure.Classify(body(400, `{"error":{"code":"no_seat","message":"Seat 7 of me@example.com (key sk-12ab) is taken since 2026-04-01T10:00:00Z; ask your admin. `+strings.Repeat("And so on. ", 40)+`"}}`))
	row, err := failure.RowOf(f, failure.KindRateLimit)
	want := failure.LocalRow{
		Kind: failure.KindRateLimit, Provider: "acme", Status: 400, Code: "no_seat",
		Text: "Seat # of # (key #) is taken since #; ask your admin. And so on. And so on. And so on. And so on. And so on. And so on.",
	}
	if err != nil || row != want {
		t.Errorf("%+v, %v\nwant %+v", row, err, want)
	}
	next := body(400, `{"error":{"code":"no_seat","message":"Seat 123 of you.too@example.org (key sk-99) is taken since 2027-01-01T00:00:00Z; ask your admin. `+strings.Repeat("And so on. ", 40)+`"}}`)
	if got := local(t, row).Classify(next); got.Kind != failure.KindRateLimit {
		t.Errorf("with other numbers it is %s", got.Kind)
	}
	if row, err := failure.RowOf(failure.Classify(failure.Evidence{Err: errors.New("123")}), failure.KindAuth); err == nil {
		t.Errorf("a number alone gives %+v", row)
	}
}

func TestRepeats(t *testing.T) {
	for _, from := range []failure.Kind{failure.KindAuth, failure.KindBilling, failure.KindInvalidRequest, failure.KindContentFilter, failure.KindContextOverflow} {
		if failure.Repeats(from, failure.KindOverloaded) == "" {
			t.Errorf("%s is sent again without a word", from)
		}
		if said := failure.Repeats(failure.KindOverloaded, from) + failure.Repeats(from, failure.KindAuth); said != "" {
			t.Errorf("%s: %s", from, said)
		}
	}
}

// FuzzLocal learns any text from any message, and requires that the row matches that message.
func FuzzLocal(f *testing.F) {
	f.Add(429, `{"error":{"code":"x","message":"You have used 1,2.3:4/5 of me@x.y"}}`, "You have #")
	f.Add(0, "配额不足100次 ##,#.a1", "配额不足")
	f.Add(500, "İ\xff\x1b[31m 1.2.3.4 a.b..c1", "a.b")
	f.Fuzz(func(t *testing.T, status int, text, part string) {
		e := failure.Evidence{Provider: "acme", Status: status, Body: []byte(text)}
		if row, err := failure.RowOf(failure.Classify(e), failure.KindTLS); err == nil {
			if got := local(t, row).Classify(e); got.Kind != failure.KindTLS {
				t.Errorf("%+v does not fit %q: %s", row, text, got.Kind)
			}
		}
		if l, err := failure.NewLocal([]failure.LocalRow{{Kind: failure.KindTLS, Text: part}}); err == nil {
			l.Classify(e)
		}
	})
}
