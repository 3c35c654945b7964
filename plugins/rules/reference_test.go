package rules

import (
	"fmt"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/recovery"
)

const page = "../../docs/rules.md"

// TestReference holds the tables of docs/rules.md to what the plugin knows; with
// -rewrite it writes them.
func TestReference(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	now := string(text)
	for name, rows := range tables(t) {
		block := regexp.MustCompile(`(?s)(<!-- ` + name + ` -->\n\|[^\n]*\n\|[^\n]*\n).*?(<!-- end -->)`)
		if len(block.FindAllString(now, -1)) != 1 {
			t.Fatalf("the page has not one table %q", name)
		}
		now = block.ReplaceAllStringFunc(now, func(old string) string {
			parts := block.FindStringSubmatch(old)
			return parts[1] + rows + parts[2]
		})
	}
	golden(t, page, now)
}

// TestThePagesExamplesAreRight reads the rules and the event of the page.
func TestThePagesExamplesAreRight(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	block := func(language string) string {
		found := regexp.MustCompile("(?s)```" + language + "\n(.*?)```").FindStringSubmatch(string(text))
		if found == nil {
			t.Fatalf("the page has no %s", language)
		}
		return found[1]
	}
	rs := parse(t, block("yaml"))
	f, err := parseEvent("event.json", []byte(block("json")))
	if err != nil {
		t.Fatal(err)
	}
	if o := rs.decide(f, 0); o.Rule == nil || o.Rule.Number != 2 || o.Vote.NewModel != "openai/gpt-5.2" || o.Vote.Reason != "anthropic is used up for 58 min" {
		t.Errorf("%+v", o)
	}
}

func tables(t *testing.T) map[string]string {
	return map[string]string{
		"retry": rows([]string{"`after`", "`" + short(defaultRetry.after) + "`", "a duration, `0s` for at once"},
			[]string{"`backoff`", fmt.Sprintf("`%v`", defaultRetry.backoff), "from 1, always the same, to 10"},
			[]string{"`jitter`", fmt.Sprintf("`%v`", defaultRetry.jitter), fmt.Sprintf("up to %v %% more, by chance", jitterShare*100)},
			[]string{"`max`", "`" + short(defaultRetry.most) + "`, or `after` if that is more", "the longest pause, jitter included"}),
		"prefer":      preferRows(t),
		"buttons":     buttonRows(),
		"facts":       factRows(reflect.TypeFor[Facts]()),
		"failure":     factRows(reflect.TypeFor[Failure]()),
		"remaining":   factRows(reflect.TypeFor[Remaining]()),
		"spent":       factRows(reflect.TypeFor[Spent]()),
		"alternative": factRows(reflect.TypeFor[Alternative]()),
		"tried":       factRows(reflect.TypeFor[Tried]()),
		"examples":    exampleRows(t),
		"kinds":       kindRows(),
	}
}

func rows(list ...[]string) string {
	var b strings.Builder
	for _, cells := range list {
		b.WriteString("| " + strings.ReplaceAll(strings.Join(cells, " \x00 "), "|", `\|`) + " |\n")
	}
	return strings.ReplaceAll(b.String(), "\x00", "|")
}

func factRows(of reflect.Type) string {
	var list [][]string
	for i := range of.NumField() {
		field := of.Field(i)
		list = append(list, []string{"`" + nameOf(field) + "`", typeName(field.Type), field.Tag.Get("doc")})
	}
	return rows(list...)
}

// typeName is CEL's name of a type, as people say it.
func typeName(of reflect.Type) string {
	switch name := celType(of).String(); name {
	case "Failure", "Remaining", "Spent":
		return "object"
	case "list(Alternative)", "list(Tried)":
		return "list of objects"
	case "list(string)":
		return "list of strings"
	case "map(string, string)":
		return "strings by name"
	case "map(string, int)":
		return "numbers by name"
	default:
		return strings.TrimPrefix(strings.ToLower(name), "google.protobuf.")
	}
}

func preferRows(t *testing.T) string {
	what := map[string]string{
		"order":           "the first",
		"larger_context":  "the one with the largest context; one of unknown size last",
		"smaller_context": "the one with the smallest context; one of unknown size last",
		"same_provider":   "one of the provider entry that failed, if there is one",
		"other_provider":  "one of another provider entry, if there is one",
	}
	var list [][]string
	for _, name := range preferenceNames {
		if what[name] == "" || preferences[name] == nil {
			t.Errorf("%s is not explained", name)
		}
		list = append(list, []string{"`" + name + "`", what[name]})
	}
	return rows(list...)
}

func buttonRows() string {
	var list [][]string
	for _, kind := range buttonKinds {
		list = append(list, []string{"`" + kind + "`", recovery.Label(kind, "…"), recovery.EffectOf(kind)})
	}
	return rows(list...)
}

func kindRows() string {
	var list [][]string
	for _, kind := range failure.Kinds() {
		retryable := "no"
		if kind.Retryable() {
			retryable = "yes"
		}
		if kind.Once() {
			retryable = "once"
		}
		list = append(list, []string{"`" + string(kind) + "`", "`" + string(kind.Code()) + "`", retryable})
	}
	return rows(list...)
}

func exampleRows(t *testing.T) string {
	var list [][]string
	for _, example := range [][2]string{
		{`failure.kind in ["auth", "billing"]`, "one of several"},
		{`size(alternatives) > 0`, "there is another model"},
		{`alternatives.exists(a, a.context_tokens > 200000)`, "one of a list is like that; `all`, `filter` and `map` work alike"},
		{`failure.retry_after > duration("30s")`, "durations; also `1m30s`, `500ms`, `2h`"},
		{`has(failure.resets_at) && failure.resets_at < timestamp("2026-05-04T03:02:01Z")`, "a time that may not be there"},
		{`failure.at.getHours("Europe/Oslo") >= 8 && failure.at.getDayOfWeek("Europe/Oslo") in [1, 2, 3, 4, 5]`, "the hour and the day of the week (0 = Sunday); UTC without a zone"},
		{`model.startsWith("anthropic/")`, "also `endsWith`, `contains`, and `matches` with a regular expression"},
		{`failure.provider_code.matches("^insufficient_")`, "a regular expression (RE2)"},
	} {
		if _, flaws := compile(example[0]); len(flaws) > 0 {
			t.Errorf("%s: %v", example[0], flaws)
		}
		list = append(list, []string{"`" + example[0] + "`", example[1]})
	}
	return rows(list...)
}
