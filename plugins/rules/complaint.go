package rules

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/operators"

	"github.com/mulligan-run/mulligan/internal/near"
)

// flawsOf puts CEL's messages into words for people who write rules. After a first
// syntax error the parser guesses, so only the first of those is reported.
func flawsOf(text string, issues *cel.Issues) []flaw {
	var flaws []flaw
	for _, e := range issues.Errors() {
		at := runeIndex(text, e.Location.Line(), e.Location.Column())
		if strings.HasPrefix(e.Message, "undefined field") {
			at++ // after the dot
		}
		flaws = append(flaws, flaw{at, reworded(e.Message)})
		if strings.HasPrefix(e.Message, "Syntax error") {
			break
		}
	}
	return flaws
}

// runeIndex is the index of a line (from 1) and column (from 0) in text, in
// characters.
func runeIndex(text string, line, column int) int {
	n := 0
	for l := range strings.Lines(text) {
		if line--; line < 1 {
			break
		}
		n += len([]rune(l))
	}
	return n + max(0, column)
}

// complaint is a message of CEL's and what to say instead.
type complaint struct {
	pattern *regexp.Regexp
	say     func(found []string) string
}

var complaints = []complaint{
	{regexp.MustCompile(`^undefined field '([^']*)'`), undefinedField},
	{regexp.MustCompile(`^undeclared reference to '([^']*)'`), undeclared},
	{regexp.MustCompile(`^found no matching overload for '([^']*)' applied to '([^']*)'`), noOverload},
	{regexp.MustCompile(`^Syntax error: mismatched input '<EOF>'`), func([]string) string { return "the expression ends too early" }},
	{regexp.MustCompile(`^Syntax error: missing '(.*?)' at`), func(found []string) string { return fmt.Sprintf("%q is missing here", found[1]) }},
	{regexp.MustCompile(`^Syntax error: (?:mismatched|extraneous) input '(.*?)' expecting`), notExpected},
	{regexp.MustCompile(`^Syntax error: token recognition error at: '(.*?)'?$`), notExpected},
	{regexp.MustCompile(`^Syntax error: no viable alternative at input '(.*?)'?$`), notExpected},
}

func reworded(message string) string {
	for _, c := range complaints {
		if found := c.pattern.FindStringSubmatch(message); found != nil {
			return c.say(found)
		}
	}
	return message
}

// fieldsOf lists the names of an object's fields, in order.
func fieldsOf(t reflect.Type) []string {
	var names []string
	for i := range t.NumField() {
		names = append(names, nameOf(t.Field(i)))
	}
	return names
}

func undefinedField(found []string) string {
	var names []string
	for _, name := range []string{"Failure", "Alternative", "Tried", "Remaining"} {
		names = append(names, fieldsOf(objects[name].ReflectType())...)
	}
	return fmt.Sprintf("there is no field %q", found[1]) + suggestion(found[1], names)
}

func undeclared(found []string) string {
	name := found[1]
	if slices.Contains(fieldsOf(reflect.TypeFor[Failure]()), name) {
		return fmt.Sprintf("%q is not known; did you mean \"failure.%s\"?", name, name)
	}
	if instead, ok := otherLanguages[name]; ok {
		return fmt.Sprintf("%q is not known here: write %s", name, instead)
	}
	return fmt.Sprintf("%q is not known", name) + suggestion(name, append(fieldsOf(reflect.TypeFor[Facts]()), functions...))
}

func suggestion(word string, there []string) string {
	if meant := near.Word(word, there); meant != "" {
		return fmt.Sprintf("; did you mean %q?", meant)
	}
	return ""
}

// functions are the CEL functions that conditions need most.
var functions = []string{
	"size", "startsWith", "endsWith", "contains", "matches", "duration", "timestamp", "has", "all", "exists", "exists_one",
	"filter", "map", "int", "double", "string", "getHours", "getMinutes", "getDayOfWeek", "getSeconds", "getDate", "getMonth",
}

// otherLanguages is what people write who are used to other languages, and its CEL
// form.
var otherLanguages = map[string]string{
	"and": "&&", "or": "||", "not": "!", "=": "==", "&": "&&", "|": "||", "is": "==", "True": "true", "False": "false",
	"len": "size", "None": "nothing; has(…) asks whether a field is set", "now": "failure.at, when the attempt ended",
}

func noOverload(found []string) string {
	name, given := found[1], found[2]
	if symbol, ok := operators.FindReverse(name); ok && symbol != "" {
		name = symbol
	} else if name == "@in" {
		name = "in"
	}
	text := fmt.Sprintf("%s does not take %s", name, given)
	switch {
	case strings.Contains(given, "duration") && (strings.Contains(given, "string") || strings.Contains(given, "int")):
		text += `; a duration is written as duration("3s")`
	case strings.Contains(given, "timestamp") && strings.Contains(given, "string"):
		text += `; a time is written as timestamp("2026-05-04T03:02:01Z")`
	}
	return text
}

func notExpected(found []string) string {
	word := strings.TrimSpace(found[1])
	text := fmt.Sprintf("%q is not expected here", word)
	if instead, ok := otherLanguages[word]; ok {
		text += ": write " + instead
	}
	return text
}
