package tui

import (
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/charmbracelet/x/ansi"

	"github.com/mulligan-run/mulligan/internal/hostiletext"
)

// TestHostileTextIsDrawn: whatever a model writes, as it comes and at once, every frame comes
// soon, and what was written is there at the end. The page is held to the same texts.
func TestHostileTextIsDrawn(t *testing.T) {
	const soon = time.Minute // on a busy machine, with the race detector; without bounds some take many
	for _, shape := range hostiletext.Shapes() {
		t.Run(shape.Name, func(t *testing.T) {
			if testing.Short() { // the whole of them takes half a minute
				shape.Text = shape.Text[:cutBefore(shape.Text, len(shape.Text)/16)]
			}
			for _, pieces := range []int{1, 40} {
				m := newMarkdown(76, newLook(true, true))
				d, at := &drawn{}, time.Now()
				for i := 1; i < pieces; i++ {
					m.budget = frameBudget
					d.draw(m, shape.Text[:cutBefore(shape.Text, len(shape.Text)*i/pieces)], false)
				}
				frames := 0
				for ; !d.whole && time.Since(at) < soon; frames++ {
					m.budget = frameBudget
					d.draw(m, shape.Text, true)
				}
				if !d.whole {
					t.Fatalf("in %d pieces: %d of %d bytes are drawn after %s and %d frames", pieces, d.upto, len(shape.Text), soon, frames)
				}
				for _, row := range d.lines {
					if width(row) > m.width {
						t.Fatalf("wider than %d: %q", m.width, row)
					}
				}
				if !strings.HasPrefix(shape.Name, "a table") && letters(strings.Join(d.lines, "")) < letters(shape.Text)/2 {
					t.Errorf("most of it is not there")
				}
			}
		})
	}
}

// TestHardBlocksAreTold: what people write is drawn as Markdown, and a text that is hard is
// plain from there on alone.
func TestHardBlocksAreTold(t *testing.T) {
	easy := []string{
		"A paragraph with *stress*, `code` and a [link](https://example.org/" + strings.Repeat("a", 200) + ").\n",
		strings.Repeat("- an item\n  - and one below\n", 40),
		"| a | b | c |\n|---|---|---|\n" + strings.Repeat("| 1 | 2 | 3 |\n", 60),
		"```c\n" + strings.Repeat("int *p = &a[i]; /* ** */\n", 150) + "```\n",
		"> a quote\n> > and one in it\n",
	}
	for _, text := range easy {
		if hard(text) {
			t.Errorf("taken for hard: %.60q", text)
		}
	}
	m := newMarkdown(76, newLook(true, true))
	m.budget = 1 << 20
	d := &drawn{}
	text := "Before **it**.\n\n" + strings.Repeat("> ", 3_000) + "a\n\nAfter **it**."
	lines := ansi.Strip(strings.Join(d.draw(m, text, true), "\n"))
	if !strings.HasPrefix(lines, "Before it.\n") || !strings.HasSuffix(lines, "\nAfter it.") || !strings.Contains(lines, "> > > >") {
		t.Errorf("drawn as\n%s", lines)
	}
}

func letters(text string) (n int) {
	for _, r := range text {
		if unicode.IsLetter(r) {
			n++
		}
	}
	return n
}
