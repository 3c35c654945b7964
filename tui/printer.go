package tui

import (
	"math"

	"charm.land/glamour/v2"
	gansi "charm.land/glamour/v2/ansi"
	"charm.land/glamour/v2/styles"
)

// Printer draws Markdown that arrives in pieces, for a terminal on which printed lines are
// final: a block at a time, as soon as it is complete.
type Printer struct {
	markdown markdown
	drawn    drawn
	text     string
	printed  int // lines printed so far
}

// NewPrinter makes a printer for lines of at most that many columns. With attributes it uses
// bold and italic, but never colour, because the background is unknown.
func NewPrinter(columns int, attributes bool) *Printer {
	p := &Printer{markdown: markdown{width: max(10, columns)}}
	r, err := glamour.NewTermRenderer(glamour.WithStyles(printedStyle(attributes)), glamour.WithWordWrap(p.markdown.width), glamour.WithPreservedNewLines())
	if err == nil {
		p.markdown.renderer = r
	}
	return p
}

func printedStyle(attributes bool) gansi.StyleConfig {
	style, none, yes := styles.ASCIIStyleConfig, uint(0), true
	style.Document.Margin = &none
	style.Document.BlockPrefix, style.Document.BlockSuffix = "", ""
	if attributes {
		style.Strong = gansi.StylePrimitive{Bold: &yes}
		style.Emph = gansi.StylePrimitive{Italic: &yes}
		style.Strikethrough = gansi.StylePrimitive{CrossedOut: &yes}
		style.Heading.Bold = &yes
	}
	return style
}

// Add takes more of the text and returns the lines that it completes.
func (p *Printer) Add(text string) []string {
	p.text += text
	return p.draw(false)
}

// End returns the remaining lines and resets the printer for a new text.
func (p *Printer) End() []string {
	lines := p.draw(true)
	p.drawn, p.text, p.printed = drawn{}, "", 0
	return lines
}

// Rest is the text that is not drawn yet.
func (p *Printer) Rest() string { return p.text[p.drawn.upto:] }

func (p *Printer) draw(final bool) []string {
	p.markdown.budget = math.MaxInt
	p.drawn.draw(&p.markdown, p.text, final)
	lines := p.drawn.lines[p.printed:]
	p.printed = len(p.drawn.lines)
	return lines
}
