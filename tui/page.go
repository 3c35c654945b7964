package tui

import "strings"

// page is text of the chat itself, in place of the conversation.
type page struct {
	rows []row
	top  int // lines scrolled past
}

// row is a line of a page: a text with its subject before it.
type row struct{ name, text string }

// tell shows a page until it is closed.
func (c *Chat) tell(p page) { c.page = &p }

// page draws rows; long texts are indented beside their names.
func (p *pen) page(rows []row) []string {
	column := 0
	for _, r := range rows {
		column = max(column, width(r.name)+2)
	}
	lines := []string{""}
	for _, r := range rows {
		if r.name == "" {
			lines = append(lines, styled(p.dim, wrap(line(r.text), p.width-2*margin))...)
			continue
		}
		name := p.accent.Render(r.name) + strings.Repeat(" ", column-width(r.name))
		lines = append(lines, hang(name, wrap(line(r.text), p.width-2*margin-column))...)
	}
	return indent(lines)
}

// pageWindow is the visible part of the page, of at most that many lines.
func (c *Chat) pageWindow(room int) []string {
	lines := c.pen.page(c.page.rows)
	c.page.top = max(0, min(c.page.top, len(lines)-room))
	return lines[c.page.top:min(len(lines), c.page.top+room)]
}
