package tui

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"charm.land/glamour/v2"
	gansi "charm.land/glamour/v2/ansi"
	"charm.land/glamour/v2/styles"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/mulligan-run/mulligan/internal/terminal"
)

// markdown draws Markdown for one width and look. Drawing is slow (200 ms for 20 KB), so a
// block is drawn once, when it is complete. Text after it is shown as written, and so are
// blocks that would take much longer (hard.go).
type markdown struct {
	width    int
	renderer *glamour.TermRenderer // nil = everything is shown as written
	budget   int                   // roughly how many bytes may be drawn until it is reset
}

// frameBudget is how many bytes are drawn in a frame, so that none takes longer than 100 ms.
// The rest is drawn in the frames that follow.
const frameBudget = 6 << 10

func newMarkdown(columns int, l look) *markdown {
	r, err := glamour.NewTermRenderer(glamour.WithStyles(markdownStyle(l)), glamour.WithWordWrap(columns), glamour.WithPreservedNewLines())
	if err != nil {
		return &markdown{width: columns, budget: frameBudget}
	}
	return &markdown{width: columns, renderer: r, budget: frameBudget}
}

// markdownStyle is glamour's own style without margins, and without backgrounds, which
// look like buttons.
func markdownStyle(l look) gansi.StyleConfig {
	style := styles.LightStyleConfig
	switch {
	case !l.colour:
		style = styles.ASCIIStyleConfig
	case l.dark:
		style = styles.DarkStyleConfig
	}
	none, two := uint(0), uint(2)
	style.Document.Margin, style.Document.Color = &none, nil
	style.Document.BlockPrefix, style.Document.BlockSuffix = "", ""
	style.CodeBlock.Margin = &two
	if !l.colour {
		return style
	}
	accent, dim := hex(l.accent), hex(l.dim)
	style.H1.Prefix, style.H1.Suffix, style.H1.BackgroundColor = "# ", "", nil
	style.Code.Prefix, style.Code.Suffix, style.Code.BackgroundColor = "", "", nil
	for _, colour := range []**string{&style.Heading.Color, &style.H1.Color, &style.H6.Color, &style.Code.Color, &style.Link.Color, &style.LinkText.Color} {
		*colour = &accent
	}
	chroma := *style.CodeBlock.Chroma
	chroma.Comment.Color, chroma.CommentPreproc.Color = &dim, &dim
	style.CodeBlock.Chroma = &chroma
	return style
}

// hex is a style's colour in glamour's notation.
func hex(style lipgloss.Style) string {
	r, g, b, _ := style.GetForeground().RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
}

// block draws one complete block. One that the renderer cannot handle is shown as
// written.
func (m *markdown) block(text string) (lines []string) {
	defer func() {
		if recover() != nil {
			lines = m.raw(text)
		}
	}()
	out, err := m.renderer.Render(withoutReferences(clean(text)))
	if err != nil {
		return m.raw(text)
	}
	for row := range strings.SplitSeq(strings.Trim(onlyStyle(out), "\n"), "\n") {
		row = strings.TrimRight(padding.ReplaceAllString(row, ""), " ")
		if strings.Contains(row, "\x1b[") {
			row += "\x1b[m"
		}
		lines = append(lines, strings.Split(ansi.Hardwrap(row, m.width, true), "\n")...)
	}
	for len(lines) > 0 && width(lines[0]) == 0 {
		lines = lines[1:]
	}
	for len(lines) > 0 && width(lines[len(lines)-1]) == 0 {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// raw shows text as written.
func (m *markdown) raw(text string) []string {
	return wrap(strings.Trim(clean(text), "\n"), m.width)
}

// padding fills a line up to the width.
var padding = regexp.MustCompile(`(?:\x1b\[[0-9;:]*m| )*$`)

// onlyStyle removes all control sequences except those for colours and styles, including
// links, whose addresses are in the text anyway.
func onlyStyle(text string) string {
	var b strings.Builder
	var state byte
	for len(text) > 0 {
		seq, _, n, next := ansi.DecodeSequence(text, state, nil)
		switch {
		case seq == "\n", sgr.MatchString(seq):
			b.WriteString(seq)
		case strings.HasPrefix(seq, "\x1b"):
		default:
			b.WriteString(terminal.Printable(seq, false))
		}
		state, text = next, text[n:]
	}
	return b.String()
}

// sgr is a control sequence that only sets a colour or a style.
var sgr = regexp.MustCompile(`^\x1b\[[0-9;:]*m$`)

// reference is a numeric character reference.
var reference = regexp.MustCompile(`&#(?:[xX][0-9a-fA-F]{1,8}|[0-9]{1,8});`)

// withoutReferences shows numeric character references as written, so that they cannot
// become control characters of the terminal.
func withoutReferences(text string) string {
	if !strings.Contains(text, "&#") {
		return text
	}
	return reference.ReplaceAllStringFunc(text, func(ref string) string {
		digits, base := ref[2:len(ref)-1], 10
		if digits[0] == 'x' || digits[0] == 'X' {
			digits, base = digits[1:], 16
		}
		n, err := strconv.ParseInt(digits, base, 32)
		if err == nil && terminal.Printable(string(rune(n)), false) != "" && n >= ' ' {
			return ref
		}
		return "&\u2060" + ref[1:]
	})
}

// finished is the length in bytes of text's first block and the empty lines after it, or 0
// while the block may still grow. A list is one block, even with empty lines between its
// items.
func finished(text string) int {
	fence, list, blank, content, at := "", false, false, false, 0
	for row := range strings.Lines(text) {
		trimmed := strings.TrimSpace(row)
		switch {
		case !strings.HasSuffix(row, "\n"):
			if blank && trimmed != "" && !belongs(row, list) {
				return at
			}
			return 0
		case fence != "":
			if closes(trimmed, fence) {
				fence = ""
			}
		case trimmed == "":
			blank = content
		case blank && !belongs(row, list):
			return at
		default:
			if !content {
				list = isItem(trimmed)
			}
			content, blank, fence = true, false, opens(trimmed)
		}
		at += len(row)
	}
	return 0
}

// belongs reports whether a line after an empty one continues the block before it. An
// incomplete line may still become a list item.
func belongs(row string, list bool) bool {
	if !list {
		return false
	}
	trimmed := strings.TrimSpace(row)
	return row[0] == ' ' || row[0] == '\t' || isItem(trimmed) || !strings.HasSuffix(row, "\n") && maybeItem.MatchString(trimmed)
}

var (
	item      = regexp.MustCompile(`^(?:[-*+]|[0-9]{1,9}[.)])(?:\s|$)`)
	maybeItem = regexp.MustCompile(`^[0-9]{1,9}$`)
)

func isItem(trimmed string) bool { return item.MatchString(trimmed) }

// closes reports whether a line ends the code block that fence began.
func closes(trimmed, fence string) bool {
	return strings.HasPrefix(trimmed, fence) && strings.Trim(trimmed, fence[:1]) == ""
}

// opens is the fence that a line opens, "" if none.
func opens(trimmed string) string {
	for _, c := range []string{"`", "~"} {
		n := len(trimmed) - len(strings.TrimLeft(trimmed, c))
		if n >= 3 && !strings.Contains(trimmed[n:], "`") {
			return strings.Repeat(c, n)
		}
	}
	return ""
}
