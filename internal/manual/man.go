package manual

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// Page is a manual page of section 1.
type Page struct {
	Name string // of its file: mulligan-plugin-new.1
	Roff string
}

// Pages are those of root and of all commands below it, for a version and a day.
func Pages(root *cobra.Command, version string, day time.Time) []Page {
	var all []Page
	for _, c := range commands(root) {
		all = append(all, page(c, version, day))
	}
	return all
}

func page(c *cobra.Command, version string, day time.Time) Page {
	name := strings.ReplaceAll(c.CommandPath(), " ", "-")
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %q 1 %q %q %q\n", strings.ToUpper(name), day.UTC().Format(time.DateOnly), "mulligan "+version, "Mulligan")
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(name), roff(c.Short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.nf\n%s\n.fi\n", roff(c.UseLine()))
	fmt.Fprintf(&b, ".SH DESCRIPTION\n%s", preformatted(about(c)))
	if all := flags(c); len(all) > 0 {
		b.WriteString(".SH OPTIONS\n")
		for _, f := range all {
			typed, usage := spelled(f)
			fmt.Fprintf(&b, ".TP\n\\fB%s\\fR\n%s\n", roff(typed), roff(usage))
		}
	}
	if c.Example != "" {
		fmt.Fprintf(&b, ".SH EXAMPLES\n%s", preformatted(c.Example))
	}
	if !c.HasParent() {
		b.WriteString(".SH EXIT STATUS\n" + preformatted(exits))
	}
	if also := neighbours(c); len(also) > 0 {
		fmt.Fprintf(&b, ".SH SEE ALSO\n%s\n", roff(strings.Join(also, ", ")))
	}
	return Page{name + ".1", b.String()}
}

const exits = `0    completed
1    failed
2    wrong usage or config
3    failed with something to choose from
130  stopped by Ctrl-C
143  let go of by SIGTERM: mulligan runs resume goes on with it`

// neighbours are the pages of a command's parent and of its children.
func neighbours(c *cobra.Command) []string {
	var all []string
	named := func(c *cobra.Command) { all = append(all, strings.ReplaceAll(c.CommandPath(), " ", "-")+"(1)") }
	if c.HasParent() {
		named(c.Parent())
	}
	for _, below := range commands(c)[1:] {
		if below.Parent() == c {
			named(below)
		}
	}
	return all
}

// preformatted keeps lines as they are.
func preformatted(text string) string { return ".nf\n" + roff(strings.TrimSpace(text)) + "\n.fi\n" }

// escapes are characters that are special to roff.
var escapes = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", "\\(ga", "…", "...", "^", `\(ha`, "~", `\(ti`)

// roff escapes text for roff; a line that begins with a dot is not taken for a request.
func roff(text string) string {
	lines := strings.Split(escapes.Replace(text), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
