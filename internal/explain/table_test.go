package explain

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/internal/exit"
)

func diagnoseText(table string) (string, error) {
	var out bytes.Buffer
	err := DiagnoseTable(strings.NewReader(table), &out, explainedAt, nil, func(int) {})
	return out.String(), err
}

func TestTableTakesWhatProgramsWrite(t *testing.T) {
	got, err := diagnoseText("\ufeffName\tSTATUS \r\na\t429 Too Many Requests\r\nb\r\n\r\nc\t503")
	want := "Name\tSTATUS \tkind\tretryable\tretry_after_ms\tcode_out\tevidence\n" +
		"a\t429 Too Many Requests\trate_limit\tyes\t\tMODEL_PROVIDER_RATE_LIMITED\tstatus 429\n" +
		"b\t\tunknown\tonce\t\tMODEL_PROVIDER_ERROR\tnothing that is known\n" +
		"\n" +
		"c\t503\toverloaded\tyes\t\tMODEL_PROVIDER_UNAVAILABLE\tstatus 503\n"
	if err != nil || got != want {
		t.Errorf("%v\ngot\n%s\nwant\n%s", err, got, want)
	}
}

func TestTableKeepsTheOrder(t *testing.T) {
	var table strings.Builder
	table.WriteString("n\tmessage\n")
	const rows = 20 * batchRows
	for i := range rows {
		fmt.Fprintf(&table, "%d\t%s\n", i, strings.Repeat("x", i%7*100))
	}
	got, err := diagnoseText(table.String())
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimRight(got, "\n"), "\n")[1:]
	if len(lines) != rows {
		t.Fatalf("%d rows", len(lines))
	}
	for i, line := range lines {
		if !strings.HasPrefix(line, fmt.Sprintf("%d\t", i)) {
			t.Fatalf("row %d is %s", i, line)
		}
	}
}

func TestTableStopsAtTheFirstWrongRow(t *testing.T) {
	table := "status\n" + strings.Repeat("429\n", 3*batchRows) + "wrong\n" + strings.Repeat("worse\n", 9*batchRows)
	got, err := diagnoseText(table)
	want := fmt.Sprintf(`line %d: status "wrong" is not an HTTP status`, 3*batchRows+2)
	if err == nil || !strings.HasPrefix(err.Error(), want) || exit.Of(err) != exit.CodeUsage {
		t.Errorf("%v, want %s", err, want)
	}
	if n := strings.Count(got, "rate_limit"); n != 3*batchRows {
		t.Errorf("%d rows are right, %d were written", 3*batchRows, n)
	}
	_, err = diagnoseText("status\n429\n" + strings.Repeat("x", maxTableLine+1))
	if err == nil || err.Error() != "line 3 is longer than 16 MiB" {
		t.Errorf("%v", err)
	}
}

type fullDisk struct{ room int }

var errFull = errors.New("no space left")

func (d *fullDisk) Write(p []byte) (int, error) {
	if d.room -= len(p); d.room < 0 {
		return 0, errFull
	}
	return len(p), nil
}

// endless is a table that never ends.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	return copy(p, strings.Repeat("429\n", 100)), nil
}

func TestTableEndsWhenItCannotBeWritten(t *testing.T) {
	in := io.MultiReader(strings.NewReader("status\n"), endless{})
	err := DiagnoseTable(in, &fullDisk{room: 1 << 17}, explainedAt, nil, func(int) {})
	if !errors.Is(err, errFull) {
		t.Errorf("%v", err)
	}
}

func TestTableClipsCells(t *testing.T) {
	body := `{"error":{"message":"` + strings.Repeat("x", maxReportBody) + `","code":"insufficient_quota"}}`
	got, err := diagnoseText("body\tstatus\n" + body + "\t429\n")
	if err != nil || !strings.HasPrefix(got, "body\tstatus\tkind") || !strings.Contains(got, "\n"+body+"\t429\trate_limit\t") {
		t.Errorf("%v: what follows 64 KiB counts, or the cell is not kept: …%s", err, got[max(0, len(got)-200):])
	}
}

func TestHeadersOfACell(t *testing.T) {
	for cell, want := range map[string]http.Header{
		"retry-after: 7": {"Retry-After": {"7"}},
		"content-type: text/html; charset=utf-8; x-a: b; c: ": {"Content-Type": {"text/html; charset=utf-8"}, "X-A": {"b"}, "C": {""}},
		"location: http://x.example/; x":                      {"Location": {"http://x.example/; x"}},
		"x-api-key: secret; a:1":                              {"A": {"1"}},
		"(HTTP/1.0, no length)":                               nil, "": nil,
	} {
		if got, err := parseHeaders(cell); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %v %v, want %v", cell, got, err, want)
		}
	}
	if _, err := parseHeaders("nonsense; a: b"); err == nil {
		t.Error("a part without a name that nothing comes before is taken")
	}
}

func TestEscapesOfACell(t *testing.T) {
	for cell, want := range map[string]string{
		`a\nb\tc\rd`: "a\nb\tc\rd", `a\\nb`: `a\\nb`, `a\`: `a\`, `\x`: `\x`, `C:\dir`: `C:\dir`,
		`{\n "a": "b\nc\"\n" }\n`: "{\n \"a\": \"b\\nc\\\"\\n\" }\n",
	} {
		if got := unescaped(cell); got != want {
			t.Errorf("%q: %q, want %q", cell, got, want)
		}
	}
}

// onlyTheWireShows are the rows of the fault catalogue that a table cannot express: an adapter
// recognizes them while it reads a stream.
const onlyTheWireShows = " A39 A41 A42 A43 G22 G29 O29 O30 O31 R07 R11 T29 T35 T36 T37 T38 T42 "

func TestTableOfTheCatalogue(t *testing.T) {
	data, err := os.ReadFile("../../faultlab/catalogue/faults.tsv")
	if err != nil {
		t.Fatal(err)
	}
	head, rows, _ := strings.Cut(string(data), "\n")
	head = strings.NewReplacer("\tkind\t", "\twant\t", "\tretryable\t", "\tmay_retry\t").Replace(head)
	got, err := diagnoseText(head + "\n" + rows)
	if err != nil {
		t.Fatal(err)
	}
	right := 0
	for line := range strings.Lines(got[strings.Index(got, "\n")+1:]) {
		cells := strings.Split(line, "\t")
		id, want, kind := cells[0], cells[2], cells[len(cells)-5]
		switch {
		case want == "-" || strings.Contains(onlyTheWireShows, " "+id+" "):
		case kind != want:
			t.Errorf("%s: %s, want %s: %s", id, kind, want, cells[len(cells)-1])
		default:
			right++
		}
	}
	if right < 100 {
		t.Errorf("only %d rows were compared", right)
	}
}

func FuzzExplainTable(f *testing.F) {
	f.Add("status\tbody\n429\t{\"error\":\"x\\n\"}\n")
	f.Add("\ufeffmessage\twhen\r\nECONNRESET\tmid-stream\r\n\r\nx")
	f.Add("headers\theaders")
	f.Add("headers\tcode\nretry-after: 7; a\tENOTFOUND\n(x\t\"")
	f.Add("body\nSSE: {\n → Go: EOF\ndata: \\n\\ndata:\\n")
	f.Fuzz(func(t *testing.T, table string) {
		got, err := diagnoseText(table)
		if err != nil {
			if exit.Of(err) != exit.CodeUsage {
				t.Fatalf("%v is not the caller's mistake", err)
			}
			return
		}
		in := bufio.NewScanner(strings.NewReader(strings.TrimPrefix(table, "\ufeff")))
		out := bufio.NewScanner(strings.NewReader(got))
		in.Buffer(nil, maxTableLine)
		out.Buffer(nil, 2*maxTableLine)
		for columns := 0; in.Scan(); {
			if !out.Scan() {
				t.Fatalf("a row is lost: %q", in.Text())
			}
			if columns == 0 {
				columns = strings.Count(in.Text(), "\t") + 1 + len(addedColumns)
			} else if in.Text() == "" && out.Text() == "" {
				continue
			}
			if n := strings.Count(out.Text(), "\t") + 1; n != columns || !strings.HasPrefix(out.Text(), in.Text()) {
				t.Fatalf("%q became %q", in.Text(), out.Text())
			}
		}
		if out.Scan() {
			t.Fatalf("a row too many: %q", out.Text())
		}
	})
}

func FuzzExplainPaste(f *testing.F) {
	f.Add("HTTP/1.1 429 Too Many Requests\r\nretry-after: 7\r\n\r\n{}")
	f.Add("HTTP/2 200\n\nHTTP/2 401\nx: y")
	f.Add("HTTP/1.1 100\n\n\ufeffHTTP/")
	f.Add("overloaded")
	f.Fuzz(func(t *testing.T, text string) {
		var r Report
		if err := r.Paste(text); err != nil {
			return
		}
		x, err := Explain(&r, explainedAt, nil)
		if err != nil || x.Failure.Kind == "" || len(x.Evidence) == 0 {
			t.Fatalf("%v: %+v", err, x)
		}
		x.WriteNote(NewNote(io.Discard))
	})
}

// BenchmarkExplainTable explains a table of 100,000 failures in one operation.
func BenchmarkExplainTable(b *testing.B) {
	const rows = 100_000
	kinds := []string{
		"anthropic\t429\tretry-after: 7\t{\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\",\"message\":\"slow down\"}}\t\n",
		"openai\t400\t-\t{\"error\":{\"message\":\"This model's maximum context length is 128000 tokens.\",\"code\":null}}\theaders\n",
		"x\t-\t\tGo: dial tcp 127.0.0.1:1: connect: connection refused\tbefore-connect\n",
	}
	var table strings.Builder
	table.WriteString("provider\tstatus\theaders\tbody\twhen\n")
	for i := range rows {
		table.WriteString(kinds[i%len(kinds)])
	}
	b.SetBytes(int64(table.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if err := DiagnoseTable(strings.NewReader(table.String()), io.Discard, explainedAt, nil, func(int) {}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N), "ms/100k-rows")
}

// BenchmarkExplain explains one failure in full.
func BenchmarkExplain(b *testing.B) {
	r := Report{Provider: "anthropic", Status: 429, body: `{"error":{"type":"rate_limit_error"}}`}
	for b.Loop() {
		if x, err := Explain(&r, explainedAt, nil); err != nil || x.Failure.Kind != failure.KindRateLimit {
			b.Fatal(err)
		}
	}
}
