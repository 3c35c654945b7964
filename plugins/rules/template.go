package rules

import (
	"fmt"
	"strings"
	"time"

	"cel.dev/cel-go/cel"

	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/recovery"
)

// template is a text for people with expressions in {{ }}.
type template []part

// part is a text, followed by the value of an expression if there is one.
type part struct {
	text  string
	value *expression
}

// parseTemplate parses a text. The flaws' positions are in characters of the text.
func parseTemplate(text string, compile func(string) (*expression, []flaw)) (template, []flaw) {
	var (
		t     template
		flaws []flaw
		done  int // characters
	)
	for {
		before, rest, found := strings.Cut(text, "{{")
		if !found {
			return append(t, part{text: text}), flaws
		}
		at := done + len([]rune(before)) + len("{{")
		inside, after, closed := strings.Cut(rest, "}}")
		if !closed {
			return nil, append(flaws, flaw{at - len("{{"), `"{{" is not closed by "}}"`})
		}
		value, wrong := compileValue(inside, compile)
		for _, w := range wrong {
			flaws = append(flaws, flaw{at + w.at, w.text})
		}
		t = append(t, part{before, value})
		done, text = at+len([]rune(inside))+len("}}"), after
	}
}

// compileValue checks an expression whose value can be shown.
func compileValue(text string, compile func(string) (*expression, []flaw)) (*expression, []flaw) {
	if strings.TrimSpace(text) == "" {
		return nil, []flaw{{0, `an expression is missing, for example {{failure.provider}}`}}
	}
	x, flaws := compile(text)
	if len(flaws) > 0 {
		return nil, flaws
	}
	switch kind := x.checked.OutputType().Kind(); kind {
	case cel.StringKind, cel.IntKind, cel.UintKind, cel.DoubleKind, cel.BoolKind, cel.DurationKind, cel.TimestampKind:
		return x, nil
	}
	return nil, []flaw{{0, fmt.Sprintf("%s cannot be shown: a string, number, duration or time can", x.checked.OutputType())}}
}

// render fills in the expressions. One that cannot be evaluated becomes "?".
func (t template) render(in *scope) (string, error) {
	var (
		b     strings.Builder
		first error
	)
	for _, p := range t {
		b.WriteString(p.text)
		if p.value == nil {
			continue
		}
		v, err := p.value.value(in)
		if err != nil {
			if first == nil {
				first = fmt.Errorf("{{%s}}: %w", p.value.text, err)
			}
			b.WriteByte('?')
			continue
		}
		b.WriteString(shown(v.Value()))
	}
	return words.Clip(b.String(), recovery.MaxText), first
}

func shown(v any) string {
	switch v := v.(type) {
	case time.Duration:
		return words.Duration(v)
	case time.Time:
		return v.UTC().Format("2006-01-02 15:04 MST")
	}
	return fmt.Sprint(v)
}
