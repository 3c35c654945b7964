package manual

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// The page of --help, as fang draws it: its margins, and how far apart its two columns are.
const (
	margin  = 4
	between = 2
	widest  = 104 // lines of text that are longer are hard to read
)

// Fit gives a command the line breaks with which its --help fits a terminal that is so many columns
// wide. What draws it cuts off examples that are longer, and leaves it to the terminal to break
// descriptions in the middle of a word.
func Fit(c *cobra.Command, columns int) {
	c.Long = reflow(c.Long, min(columns, widest)-margin)
	var examples []string
	for line := range strings.SplitSeq(c.Example, "\n") {
		examples = append(examples, fold(line, columns-2*margin)...)
	}
	c.Example = strings.Join(examples, "\n")
	room := columns - margin - beside(c)
	if room < 20 {
		return // too narrow for two columns: it is the terminal's to break
	}
	for _, sub := range c.Commands() {
		sub.Short = strings.Join(wrap(sub.Short, room), "\n")
	}
	c.Flags().VisitAll(func(f *pflag.Flag) {
		shown := "" // at the end, by what draws it
		if !slices.Contains([]string{"", "false", "0", "[]"}, f.DefValue) {
			shown = "\u00a0(" + f.DefValue + ")"
		}
		f.Usage = strings.TrimSuffix(strings.Join(wrap(f.Usage+shown, room), "\n"), shown)
	})
}

// beside is how wide the column is that names what a command has: its own commands, and flags.
func beside(c *cobra.Command) int {
	widest := 0
	for _, sub := range c.Commands() {
		if sub.Hidden {
			continue
		}
		width := utf8.RuneCountInString(strings.Replace(sub.Use, " [flags]", "", 1)) // which goes to the end
		if sub.HasSubCommands() || sub.HasAvailableFlags() {
			width += len(" [--flags]") // or [command]
		}
		widest = max(widest, width)
	}
	c.Flags().VisitAll(func(f *pflag.Flag) {
		width := len("--" + f.Name)
		if f.Shorthand != "" {
			width += len("-h ")
		}
		widest = max(widest, width)
	})
	return widest + between
}

// reflow breaks the lines of paragraphs and of lists anew. What is indented otherwise is a table or
// an example, and stays as it is.
func reflow(text string, columns int) string {
	var done []string
	text = strings.TrimRight(text, "\n")
	for rest := strings.Split(text, "\n"); len(rest) > 0; {
		first := rest[0]
		inner := hanging(first)
		n := 1
		for n < len(rest) && inner >= 0 && continues(rest[n], inner) {
			n++
		}
		if inner < 0 {
			done = append(done, first)
		} else {
			whole := strings.Join(strings.Fields(strings.Join(rest[:n], " ")), " ")
			indent := strings.Repeat(" ", inner)
			for i, line := range wrap(whole, columns-inner) {
				if i == 0 && inner > 0 { // the bullet
					line = first[:len(first)-len(strings.TrimLeft(first, " "))] + line
				} else {
					line = indent + line
				}
				done = append(done, line)
			}
		}
		rest = rest[n:]
	}
	return strings.Join(done, "\n")
}

// hanging is how far the further lines of what begins with this one are indented; -1 if it is
// no text.
func hanging(line string) int {
	for _, bullet := range []string{"  - ", "  · "} {
		if strings.HasPrefix(line, bullet) {
			return 4
		}
	}
	if line == "" || line[0] == ' ' {
		return -1
	}
	return 0
}

// continues reports whether a line goes on with what is indented so far.
func continues(line string, indent int) bool {
	trimmed := strings.TrimLeft(line, " ")
	return trimmed != "" && len(line)-len(trimmed) == indent
}

// wrap breaks text between words into lines of so many columns.
func wrap(text string, columns int) []string {
	var lines []string
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ' ' || r == '\n' }) {
		last := len(lines) - 1
		if last >= 0 && utf8.RuneCountInString(lines[last])+1+utf8.RuneCountInString(word) <= columns {
			lines[last] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return lines
}

// fold breaks an example that is too long, so that a shell still reads it: its comment goes before it, and a
// command goes on after a backslash.
func fold(line string, columns int) []string {
	if utf8.RuneCountInString(line) <= columns {
		return []string{line}
	}
	if comment, ok := strings.CutPrefix(line, "# "); ok {
		lines := wrap(comment, columns-2)
		for i := range lines {
			lines[i] = "# " + lines[i]
		}
		return lines
	}
	if command, comment, ok := strings.Cut(line, " # "); ok {
		return append(fold("# "+strings.TrimSpace(comment), columns), fold(strings.TrimRight(command, " "), columns)...)
	}
	var lines []string
	for _, word := range words(line) {
		last := len(lines) - 1
		switch {
		case last < 0:
			lines = append(lines, word)
		case utf8.RuneCountInString(lines[last]+" "+word) <= columns-len(` \`):
			lines[last] += " " + word
		default:
			lines[last] += ` \`
			lines = append(lines, "    "+word)
		}
	}
	return lines
}

// words are the words of a command as a shell tells them apart: those in quotes or parentheses are one.
func words(line string) []string {
	var quote rune
	depth := 0
	return slices.Collect(strings.FieldsFuncSeq(line, func(r rune) bool {
		switch {
		case quote == 0 && r == '(':
			depth++
		case quote == 0 && r == ')':
			depth--
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote = r
		}
		return r == ' ' && quote == 0 && depth == 0
	}))
}
