package show

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/recovery/rescue"
)

var rewrite = flag.Bool("rewrite", false, "write testdata/waterfalls.txt anew")

func drawn(r rescue.Rescue) string {
	var out bytes.Buffer
	New(&out, &out).waterfall(r)
	return out.String()
}

// TestWaterfalls: golden runs, as a terminal shows them.
func TestWaterfalls(t *testing.T) {
	var got strings.Builder
	for _, name := range []string{"happy", "tools", "switch_after_retries", "accepted_switch", "unknown_outcome", "expiry", "long_wait"} {
		data, err := os.ReadFile("../sdk/conformance/timelines/" + name + ".json")
		if err != nil {
			t.Fatal(err)
		}
		var golden struct{ Events []recovery.Event }
		if err := json.Unmarshal(data, &golden); err != nil {
			t.Fatal(err)
		}
		r, err := rescue.Of(golden.Events, golden.Events[len(golden.Events)-1].Time)
		if err != nil {
			t.Fatal(err)
		}
		got.WriteString("# " + name + "\n" + drawn(r) + "\n")
	}
	path := filepath.Join("testdata", "waterfalls.txt")
	if *rewrite {
		if err := os.WriteFile(path, []byte(got.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil || got.String() != string(want) {
		t.Errorf("they look different (-rewrite writes them down): %v\n%s", err, got.String())
	}
}

// TestWaterfallsFit: whatever a run is like, no line is wider than a page, and nothing steers the terminal.
func TestWaterfallsFit(t *testing.T) {
	for _, text := range append([]string{"", strings.Repeat("wide 漢字 ", 40), strings.Repeat("👩‍👩‍👧‍👦", 30)}, steering...) {
		f := *failure.NewFailure(failure.KindUnknown, failure.OriginModel, failure.PhaseMidStream, nil)
		r := rescue.Rescue{Headline: "Being rescued", Figures: rescue.Figures{Took: 10}}
		for i := range int64(60) {
			for _, kind := range []rescue.Kind{rescue.KindAttempt, rescue.KindTool, rescue.KindWait, rescue.KindPerson, rescue.KindFailure} {
				r.Spans = append(r.Spans, rescue.Span{Kind: kind, State: rescue.StateFailed, Label: text, Detail: text, From: i, To: i * 100_000, Failure: &rescue.SpanFailure{Failure: f}})
			}
		}
		lines := strings.Split(strings.TrimSuffix(drawn(r), "\n"), "\n")
		if len(lines) != mostLanes+2 || !strings.Contains(lines[1], "276 stretches") {
			t.Fatalf("%q: %d lines, %q", text, len(lines), lines[1])
		}
		for _, line := range lines {
			if ansi.StringWidth(line) > PageWidth || strings.ContainsAny(line, "\x1b\u202e\u009b") {
				t.Errorf("%q: %q", text, line)
			}
		}
	}
}
