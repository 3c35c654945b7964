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
