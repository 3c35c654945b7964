package hostiletext

import (
	"fmt"
	"strings"
)

// Shape is one text.
type Shape struct {
	Name string
	// Text is valid UTF-8, of 6 KB to 400 KB.
	Text string
}

// Shapes returns all of them, always the same.
func Shapes() []Shape {
	var all []Shape
	for _, group := range [][]Shape{nested(), wide(), signs(), unfinished(), characters()} {
		all = append(all, group...)
	}
	return all
}

// nested are things nested deeper than anybody reads.
func nested() []Shape {
	stairs := func(n int, marker string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "%s%sa\n", strings.Repeat("  ", i), marker)
		}
		return b.String()
	}
	return []Shape{
		{"quotes", strings.Repeat("> ", 3_000) + "a"},
		{"quotes without spaces", strings.Repeat(">", 10_000)},
		{"quotes, line below line", strings.Repeat(strings.Repeat("> ", 200)+"a\n", 100)},
		{"lists on one line", strings.Repeat("- ", 5_000) + "a"},
		{"numbers on one line", strings.Repeat("1. ", 5_000) + "a"},
		{"lists as stairs", stairs(400, "- ")},
		{"quotes in lists", strings.Repeat("> - ", 3_000) + "a"},
		{"brackets", strings.Repeat("[", 20_000) + "a" + strings.Repeat("]", 20_000)},
		{"emphasis", strings.Repeat("*a **b ", 6_000)},
		{"links", strings.Repeat("[a](", 10_000)},
	}
}

// wide are too many of one thing beside or below each other.
func wide() []Shape {
	return []Shape{
		{"a table of 5,000 columns", "|" + strings.Repeat("a|", 5_000) + "\n|" + strings.Repeat("-|", 5_000) + "\n" + strings.Repeat("|"+strings.Repeat("b|", 5_000)+"\n", 8)},
		{"a table of 20,000 rows", "|a|b|\n|-|-|\n" + strings.Repeat("|a|b|\n", 20_000)},
		{"a table whose rows are longer", "|a|\n|-|\n" + strings.Repeat("|"+strings.Repeat("b|", 500)+"\n", 200)},
		{"a list", strings.Repeat("- a\n", 40_000)},
		{"a list with blank lines", strings.Repeat("- a\n\n", 20_000)},
		{"a list of numbers", strings.Repeat("1. a\n", 40_000)},
		{"tasks", strings.Repeat("- [ ] a\n", 20_000)},
		{"headings", strings.Repeat("# a\n", 20_000)},
		{"headings by underlines", strings.Repeat("a\n=\n", 20_000)},
		{"rules", strings.Repeat("---\n\n", 20_000)},
		{"definitions", strings.Repeat("[a]: <b> \"c\"\n", 8_000)},
		{"a quote that lazily goes on", strings.Repeat("> a\nb\n", 10_000)},
		{"code blocks", strings.Repeat("```\na\n```\n", 8_000)},
		{"code blocks of a language", strings.Repeat("```go\nfunc a() {}\n```\n", 3_000)},
		{"formulas", strings.Repeat("$a_1$ \\(b\\) ", 8_000)},
		{"dollars", strings.Repeat("$a ", 20_000)},
		{"pictures", strings.Repeat("![a](b.png) ", 8_000)},
	}
}

// signs are Markdown characters that are never closed.
func signs() []Shape {
	return []Shape{
		{"underscores", strings.Repeat("_", 100_000)},
		{"underscores between letters", strings.Repeat("_a", 50_000)},
		{"stars", strings.Repeat("**a *b ", 14_000)},
		{"tildes", strings.Repeat("~~a ", 25_000)},
		{"backslashes", strings.Repeat("\\", 100_000)},
		{"backticks of every length", rising("`", 400)},
		{"every sign", strings.Repeat("*_~`[<!&|>#\\", 8_000)},
		{"ampersands", strings.Repeat("&#x", 30_000)},
		{"tags", strings.Repeat("<a ", 30_000)},
		{"comments", strings.Repeat("<!--", 25_000)},
	}
}

// unfinished are constructs without an end.
func unfinished() []Shape {
	return []Shape{
		{"an open code block", "```go\n" + strings.Repeat("func main() {}\n", 20_000)},
		{"a code block of one line", "```\n" + strings.Repeat("x", 300_000) + "\n```"},
		{"an address without an end", "https://example.org/" + strings.Repeat("a.b/", 25_000)},
		{"almost an e-mail address", strings.Repeat("a.", 50_000) + "@"},
	}
}

// characters are hard for fonts, for line breaking and for counting.
func characters() []Shape {
	return []Shape{
		{"one word", strings.Repeat("x", 200_000)},
		{"a paragraph without an end", strings.Repeat("word ", 60_000)},
		{"spaces", "a" + strings.Repeat(" ", 100_000) + "b"},
		{"blank lines", "a" + strings.Repeat("\n", 100_000) + "b"},
		{"accents on one letter", "a" + strings.Repeat("\u0301", 50_000)},
		{"right to left and back", strings.Repeat("\u202eab\u202c\u2066cd\u2069", 8_000)},
		{"isolates that are never closed", strings.Repeat("\u2067a", 20_000)},
		{"a family", strings.Repeat("👩\u200d", 15_000)},
		{"every control character", strings.Repeat(controls(), 800)},
		{"half a picture", "![a](data:image/png;base64," + strings.Repeat("A", 200_000)},
	}
}

// rising is a sign once, twice, and so on, each run apart from the next.
func rising(sign string, n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(sign, i+1) + "a")
	}
	return b.String()
}

// controls are the control characters of C0 and C1, without the end of a line.
func controls() string {
	var b strings.Builder
	for r := rune(1); r < 0xa0; r++ {
		if r != '\n' && (r < 0x20 || r >= 0x7f) {
			b.WriteRune(r)
		}
	}
	return b.String()
}
