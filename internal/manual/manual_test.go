package manual

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/mulligan-run/mulligan/internal/needs"
)

func tree() *cobra.Command {
	root := &cobra.Command{Use: "prog", Short: "Does things", Long: "It does things.\n\n  a   b\n\n.hidden files too, isn't it?"}
	sub := &cobra.Command{
		Use: "go PLACE", Short: "Goes to a <place> with_a*star", Example: "prog go home   # ~/x^2 `now`", Run: func(*cobra.Command, []string) {},
	}
	sub.Flags().StringP("way", "w", "road", "the `ROAD` to take | or not")
	sub.Flags().Bool("secret", false, "")
	_ = sub.Flags().MarkHidden("secret")
	root.PersistentFlags().Bool("verbose", false, "say more")
	hidden := &cobra.Command{Use: "inner", Hidden: true, Run: func(*cobra.Command, []string) {}}
	root.AddCommand(sub, hidden)
	return root
}

func TestPages(t *testing.T) {
	pages := Pages(tree(), "v1.2.3", time.Unix(0, 0))
	if len(pages) != 2 || pages[0].Name != "prog.1" || pages[1].Name != "prog-go.1" {
		t.Fatalf("%d pages: %+v", len(pages), pages)
	}
	for _, want := range []string{
		`.TH "PROG-GO" 1 "1970-01-01" "mulligan v1.2.3"`, `prog\-go \- Goes`, `\fB\-w, \-\-way ROAD\fR`, "(default road)", `\fB\-\-verbose\fR`, "prog(1)",
	} {
		if !strings.Contains(pages[1].Roff, want) {
			t.Errorf("no %q in\n%s", want, pages[1].Roff)
		}
	}
	if strings.Contains(pages[1].Roff, "secret") || !strings.Contains(pages[0].Roff, `\&.hidden`) {
		t.Errorf("what is hidden is shown, or a line is a request:\n%s", pages[0].Roff)
	}
}

// TestPagesAreRoff: roff's own programs find no mistake in the pages.
func TestPagesAreRoff(t *testing.T) {
	needs.Programs(t, "a page of the manual", "groff")
	for _, page := range Pages(tree(), "v1.2.3", time.Unix(0, 0)) {
		cmd := exec.CommandContext(t.Context(), "groff", "-man", "-ww", "-Tutf8")
		cmd.Stdin = strings.NewReader(page.Roff)
		var complaints bytes.Buffer
		cmd.Stderr = &complaints
		out, err := cmd.Output()
		if err != nil || complaints.Len() > 0 {
			t.Errorf("%s: %v\n%s", page.Name, err, &complaints)
		}
		if page.Name == "prog.1" && !strings.Contains(string(out), ".hidden files too, isn't it?") {
			t.Errorf("%s is\n%s", page.Name, out)
		}
	}
}

func TestMarkdown(t *testing.T) {
	got := Markdown(tree())
	for _, want := range []string{"## prog go\n", "Goes to a &lt;place> with\\_a\\*star.", "| `-w, --way ROAD` | the ROAD to take \\| or not (default road) |", "prog go home   # ~/x^2 `now`"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "secret") || strings.Contains(got, "inner") {
		t.Errorf("what is hidden is shown:\n%s", got)
	}
}

func TestParagraphsKeepTables(t *testing.T) {
	if got := paragraphs("One:\n\n  a   b\n  c   d\n\nTwo."); got != "One:\n\n```\n  a   b\n  c   d\n\n```\nTwo." {
		t.Errorf("%q", got)
	}
}

// TestFit: what is printed fits, breaks between words, and can still be typed.
func TestFit(t *testing.T) {
	c := &cobra.Command{
		Use: "run", Run: func(*cobra.Command, []string) {},
		Long:    "It runs what it is\ntold to run, and ends.\n\nIt may\n  - wait for what is not there yet\n  - end\nand it prints\n\n    a   table that is   as wide as it is",
		Example: "# What is long is broken so\nrun --first 'one word' --second two\nrun --short\nrun --all   # whatever there is to be run",
	}
	c.Flags().Int("first", 3, "how many of them there are to be")
	sub := &cobra.Command{Use: "on", Short: "Go on with what has been run", Run: func(*cobra.Command, []string) {}}
	c.AddCommand(sub)
	Fit(c, 34)
	for _, part := range []struct{ got, want string }{
		{c.Long, "It runs what it is told to\nrun, and ends.\n\nIt may\n  - wait for what is not\n    there yet\n  - end\nand it prints\n\n    a   table that is   as wide as it is"},
		{c.Example, "# What is long is broken\n# so\nrun --first 'one word' \\\n    --second two\nrun --short\n# whatever there is to be\n# run\nrun --all"},
		{c.Flags().Lookup("first").Usage, "how many of them\nthere are to be"},
		{sub.Short, "Go on with what has\nbeen run"},
	} {
		if part.got != part.want {
			t.Errorf("got\n%s\nwant\n%s", part.got, part.want)
		}
	}
}
