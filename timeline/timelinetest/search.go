package timelinetest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// searched are the titles of runs that are looked for by their words.
var searched = map[string]string{
	"accents":     "Der Straßenbauämter-Überblick: façade, ÎLE, naïve",
	"decomposed":  "fac\u0327ade, with a mark of its own",
	"quotes":      `He said "it's 5'11\" tall" -- ; DROP TABLE runs`,
	"wildcards":   `100%_done * ? [a-z] ^x NEAR(a b) a AND b OR c NOT d`,
	"underscore":  "100%Xdone",
	"han":         "故障が発生しました。東京都",
	"emoji":       "🙂👩‍🚀 lift-off 𝒳𝒴𝒵",
	"turkish":     "İSTANBUL ISPARTA",
	"greek":       "ΟΔΟΣ ΣΊΣΥΦΟΣ",
	"backslashes": `C:\temp\new \u0041`,
}

func testSearch(t *testing.T, log timeline.Log) {
	for _, run := range slices.Sorted(maps.Keys(searched)) {
		l := claim(t, log, run, "a")
		appendAll(t, log, l, 0, with(run, 1, recovery.Started{
			Model: "lab/one", Input: []llm.Message{llm.User(searched[run])}, Labels: recovery.Labels{"name": run, "title": searched[run], "all": ""},
		}))
		appendAll(t, log, l, 1, with(run, 2, recovery.Ended{Status: recovery.StatusCompleted}))
		if err := log.Release(t.Context(), l); err != nil {
			t.Fatal(err)
		}
	}
	testSearchText(t, log)
	for run, title := range searched {
		wantRuns(t, log, timeline.Query{Labels: recovery.Labels{"title": title}}, run)
		wantRuns(t, log, timeline.Query{Labels: recovery.Labels{"title": title, "name": run, "all": ""}, Text: title}, run)
		wantRuns(t, log, timeline.Query{Labels: recovery.Labels{"title": title + " "}})
		wantRuns(t, log, timeline.Query{Labels: recovery.Labels{"title": strings.ToUpper(title) + "!"}})
	}
	wantRuns(t, log, timeline.Query{Labels: recovery.Labels{"all": "", "name": "han"}, Text: "façade"})
	testSearchChanges(t, log)
}

// testSearchText looks for texts that stores could take for something else.
func testSearchText(t *testing.T, log timeline.Log) {
	t.Helper()
	for text, want := range map[string][]string{
		"ßENBAUÄM": {"accents"}, "strasse": nil, "überblick": {"accents"}, "uberblick": nil, "façade": {"accents"}, "facade": nil,
		"île": {"accents"}, "ile": nil, "fac\u0327ade": {"decomposed"}, "AÏV": {"accents"}, "ïv": {"accents"},
		`"it's`: {"quotes"}, `'`: {"quotes"}, `"`: {"quotes"}, `5'11\"`: {"quotes"}, "; drop table": {"quotes"}, "--": {"quotes"},
		"100%": {"wildcards", "underscore"}, "%_d": {"wildcards"}, "100%_done": {"wildcards"}, "1__": nil, "%%%": nil, "* ?": {"wildcards"}, "do*": nil,
		"[a-z]": {"wildcards"}, "^x": {"wildcards"}, "near(a b)": {"wildcards"}, "b or c": {"wildcards"}, "a and x": nil, "and b": {"wildcards"}, "xdon": {"underscore"},
		"東": {"han"}, "東京": {"han"}, "東京都": {"han"}, "生しま": {"han"}, "京東": nil, "故障 が": nil,
		"🙂": {"emoji"}, "👩‍🚀 l": {"emoji"}, "𝒳𝒴𝒵": {"emoji"}, "👩🚀": nil, "ft-o": {"emoji"},
		"İstanbul": {"turkish"}, "istanbul": {"turkish"}, "isparta": {"turkish"}, "ısparta": nil,
		"οδοσ": {"greek"}, "οδος": nil, "Σίσυ": {"greek"}, "σισυ": nil,
		`\temp\`: {"backslashes"}, `\u0041`: {"backslashes"}, `c:\`: {"backslashes"}, "\x00": nil, "tem\x00p": nil, "\xff\xfe\xfd": nil,
		"done": {"wildcards", "underscore"}, "  ": nil, "tall\"": {"quotes"}, strings.Repeat("a", 5000): nil,
	} {
		wantRuns(t, log, timeline.Query{Text: text}, want...)
	}
	wantRuns(t, log, timeline.Query{Text: "done", Oldest: true}, "underscore", "wildcards")
	wantRuns(t, log, timeline.Query{Text: "done", Before: "wildcards"}, "underscore")
	wantRuns(t, log, timeline.Query{Text: "done", Status: recovery.StatusFailed})
}

// testSearchChanges: a run is found by what it says at the time, and by nothing once it is deleted.
func testSearchChanges(t *testing.T, log timeline.Log) {
	t.Helper()
	l := claim(t, log, "late", "a")
	appendAll(t, log, l, 0, with("late", 1, recovery.Started{Input: []llm.Message{llm.User("Something quite ordinary")}, Labels: recovery.Labels{"name": "late"}}))
	for i := range 3 {
		f := recovery.Failed{Failure: failure.Failure{Kind: failure.KindOverloaded, Title: fmt.Sprintf("Failure №%d in a row", i)}}
		appendAll(t, log, l, uint64(i)+1, with("late", uint64(i)+2, f)) //nolint:gosec // small
		wantRuns(t, log, timeline.Query{Text: fmt.Sprintf("№%d in a", i)}, "late")
		if i > 0 {
			wantRuns(t, log, timeline.Query{Text: fmt.Sprintf("№%d in a", i-1)})
		}
		wantRuns(t, log, timeline.Query{Text: "quite ordinary", Labels: recovery.Labels{"name": "late"}}, "late")
	}
	appendAll(t, log, l, 4, with("late", 5, recovery.Ended{Status: recovery.StatusFailed}))
	if err := log.Release(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	if err := log.Delete(t.Context(), "late", "han"); err != nil {
		t.Fatal(err)
	}
	wantRuns(t, log, timeline.Query{Text: "in a row"})
	wantRuns(t, log, timeline.Query{Text: "東京都"})
	wantRuns(t, log, timeline.Query{Labels: recovery.Labels{"name": "han"}})
	wantRuns(t, log, timeline.Query{Text: "façade"}, "accents")
}
