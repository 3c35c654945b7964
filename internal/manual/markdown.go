package manual

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// Markdown is root and all commands below it as one page of the documentation.
func Markdown(root *cobra.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# The command line\n\nWhat `mulligan --help` and `mulligan VERB --help` say; `mulligan man VERB` has it as a page of the manual. Made from the commands: do not edit it here.\n")
	for _, c := range commands(root) {
		if !c.HasParent() {
			continue
		}
		level := strings.Repeat("#", min(4, 1+strings.Count(c.CommandPath(), " ")))
		fmt.Fprintf(&b, "\n%s %s\n\n```\n%s\n```\n\n%s\n", level, c.CommandPath(), c.UseLine(), paragraphs(about(c)))
		if all := flags(c); len(all) > 0 {
			b.WriteString("\n| flag | |\n|---|---|\n")
			for _, f := range all {
				typed, usage := spelled(f)
				fmt.Fprintf(&b, "| `%s` | %s |\n", typed, cell(usage))
			}
		}
		if c.Example != "" {
			fmt.Fprintf(&b, "\n```\n%s\n```\n", strings.TrimSpace(c.Example))
		}
	}
	return b.String()
}

var marks = strings.NewReplacer("<", "&lt;", "*", `\*`, "_", `\_`)

// paragraphs are text, with its indented tables kept as they are.
func paragraphs(text string) string {
	var b strings.Builder
	fenced := false
	fence := func(on bool) {
		if on != fenced {
			b.WriteString("```\n")
			fenced = on
		}
	}
	for line := range strings.Lines(strings.TrimSpace(text) + "\n") {
		indented := strings.HasPrefix(line, "  ")
		if strings.TrimSpace(line) != "" {
			fence(indented)
		}
		if !fenced {
			line = marks.Replace(line)
		}
		b.WriteString(line)
	}
	fence(false)
	return strings.TrimSpace(b.String())
}

func cell(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(marks.Replace(text), "|", `\|`), "\n", " ")
}
