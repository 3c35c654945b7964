package rules

import "unicode"

// style is how a scalar is written in YAML.
type style int

const (
	styleBare   style = iota // plain, on one line or folded
	styleSingle              // 'it''s'
	styleDouble              // "it\"s"
	styleBlock               // | and >, from the next line on
)

// scalar is a scalar in the file.
type scalar struct {
	text  string
	at    place // of its first character, including a quote or |
	style style
}

// placeIn finds the place in the file of character n of a scalar's text, despite
// folding, escapes and indentation; at the text's end it is the place after it. If
// that fails, it is the place of the scalar.
func (s *source) placeIn(t scalar, n int) place {
	c := cursor{lines: s.lines, line: t.at.line - 1, column: t.at.column - 1, style: t.style}
	switch t.style {
	case styleBlock:
		c.line, c.column = c.line+1, 0
	case styleSingle, styleDouble:
		c.column++
	case styleBare:
	}
	text := []rune(t.text)
	for i, r := range text {
		if i > n {
			break
		}
		if !unicode.IsSpace(r) {
			c.skipSpace()
		}
		if i == n {
			return c.place()
		}
		if !c.take(r) {
			return t.at
		}
	}
	return c.place()
}

// cursor walks over a scalar as it is written.
type cursor struct {
	lines        [][]rune
	line, column int // from 0
	style        style
}

func (c *cursor) place() place { return place{c.line + 1, c.column + 1} }

// peek returns the character n further on; the end of a line counts as one.
func (c *cursor) peek(n int) rune {
	if c.line >= len(c.lines) || c.column+n > len(c.lines[c.line]) {
		return 0
	}
	if c.column+n == len(c.lines[c.line]) {
		return '\n'
	}
	return c.lines[c.line][c.column+n]
}

func (c *cursor) skip(n int) {
	if c.peek(0) == '\n' {
		c.line, c.column = c.line+1, 0
		return
	}
	c.column += n
}

// skipSpace moves to the next character that is not a space, across folded lines.
func (c *cursor) skipSpace() {
	for c.line < len(c.lines) {
		switch r := c.peek(0); {
		case unicode.IsSpace(r):
			c.skip(1)
		case r == '\\' && c.style == styleDouble && c.peek(1) == '\n':
			c.skip(1)
		default:
			return
		}
	}
}

// take moves past what stands for r.
func (c *cursor) take(r rune) bool {
	raw := c.peek(0)
	switch {
	case raw == '\\' && c.style == styleDouble:
		c.skip(c.escape())
	case raw == '\'' && c.style == styleSingle:
		c.skip(2)
	case unicode.IsSpace(r):
		if unicode.IsSpace(raw) {
			c.skip(1)
		}
	case raw != r:
		return false
	default:
		c.skip(1)
	}
	return true
}

// escape is the length of the escape sequence here.
func (c *cursor) escape() int {
	switch c.peek(1) {
	case 'x':
		return 4
	case 'u':
		if high := c.peek(2); (high == 'd' || high == 'D') && c.peek(6) == '\\' && c.peek(7) == 'u' {
			return 12 // a surrogate pair, as JSON writes it
		}
		return 6
	case 'U':
		return 10
	}
	return 2
}
