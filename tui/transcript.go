package tui

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"charm.land/lipgloss/v2"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/recovery"
)

// pen draws lines.
type pen struct {
	look
	md      *markdown
	width   int
	room    int // lines that a card may take
	now     time.Time
	details bool // past failures are shown, too
}

// newPen makes a pen for that many columns.
func newPen(columns int, l look) *pen {
	return &pen{look: l, md: newMarkdown(max(10, columns-2*margin), l), width: columns}
}

// margin is how many columns are left free on both sides of the conversation.
const margin = 2

// turn draws a turn's part of the conversation: its pieces, and how it ended unless the
// card below says so.
func (p *pen) turn(t *turn, card bool) []string {
	var lines []string
	for i, one := range t.pieces {
		if i > 0 && (one.kind == pieceUser || one.kind == pieceAnswer || t.pieces[i-1].kind == pieceUser || t.pieces[i-1].kind == pieceAnswer) {
			lines = append(lines, "")
		}
		lines = append(lines, p.piece(one)...)
	}
	if end := p.closing(t, card); len(end) > 0 {
		lines = append(append(lines, ""), end...)
	}
	return append(lines, "")
}

func (p *pen) piece(one *piece) []string {
	switch one.kind {
	case pieceUser:
		return hang(p.accent.Render("❯ "), styled(p.bold, p.wrapped(one.text)))
	case pieceAnswer:
		return p.answer(one)
	case pieceTool:
		return p.tool(one.call)
	case pieceRecovered:
		return p.recovered(one)
	default:
		text := line(words.Localize(one.text, one.resets, p.now))
		return hang(p.dim.Render("· "), styled(p.dim, wrap(text, p.width-2*margin)))
	}
}

func (p *pen) wrapped(text string) []string {
	return wrap(strings.TrimSpace(clean(text)), p.width-2*margin)
}

// answer draws an answer and who wrote it.
func (p *pen) answer(one *piece) []string {
	lines := indent(one.drawn.draw(p.md, one.text, !one.partial))
	if one.partial {
		return lines
	}
	badge := line(one.model)
	if one.cut {
		badge += " · cut at the output limit"
	}
	return append(lines, indent([]string{p.dim.Render(clip(badge, p.width-2*margin))})...)
}

func indent(lines []string) []string { return hang("  ", lines) }

func (p *pen) tool(c *call) []string {
	mark, style := p.dim.Render("○ "), p.dim
	switch {
	case c.running:
		mark, style = p.accent.Render("◐ "), p.accent
	case c.failed:
		mark, style = p.bad.Render("✗ "), p.bad
	case c.state != "" && c.state != callStopped:
		mark, style = p.good.Render("✓ "), p.dim
	}
	about := []string{cmp.Or(c.state, "waits")}
	switch {
	case c.running && p.now.Sub(c.beganAt) >= time.Second:
		about = append(about, formatSeconds(p.now.Sub(c.beganAt)))
	case c.took > 0:
		about = append(about, words.Duration(c.took.Duration()))
	}
	if c.says != "" {
		about = append(about, line(c.says))
	}
	text := line(c.name) + " " + style.Render(strings.Join(about, " · "))
	return []string{mark + clip(text, p.width-2*margin)}
}

// recovered is one grey line, which expands to the attempts with their raw errors.
func (p *pen) recovered(one *piece) []string {
	lines := hang(p.good.Render("✓ "), styled(p.dim, wrap(line(one.text), p.width-2*margin)))
	if p.details {
		lines = append(lines, p.attempts(one.tried)...)
	}
	return lines
}

// attempts shows failed attempts with what the provider said.
func (p *pen) attempts(tried []triedFailure) []string {
	var lines []string
	for i, one := range tried {
		head := fmt.Sprintf("%d. %s · %s", i+1, line(one.failure.Title), line(one.model))
		if one.took > 0 {
			head += " · " + words.Duration(one.took.Duration())
		}
		lines = append(lines, hang("  ", styled(p.dim, wrap(head, p.width-2*margin)))...)
		for _, fact := range facts(one.failure, maxDetail) {
			lines = append(lines, hang("     ", styled(p.dim, wrap(fact, p.width-2*margin-3)))...)
		}
	}
	return lines
}

// maxDetail is how much of the provider's own words is shown, in bytes. The copied
// details have all of them.
const maxDetail = 1 << 10

// facts are everything known about a failure, one per line, with at most detail bytes of
// what the provider said.
func facts(f failure.Failure, detail int) []string {
	var list []string
	add := func(name, value string) {
		if value = line(value); value != "" {
			list = append(list, name+": "+value)
		}
	}
	add("Error", string(f.Code))
	add("Kind", string(f.Kind))
	add("Classified by", f.Row)
	add("Model", f.Model)
	if f.HTTPStatus > 0 {
		add("HTTP status", fmt.Sprint(f.HTTPStatus))
	}
	add("Provider code", f.ProviderCode)
	add("Request", f.RequestID)
	add("Timer", string(f.Timer))
	add("Tool", f.Tool)
	if said := strings.TrimSpace(clean(words.Clip(f.Detail, detail))); said != "" {
		list = append(list, strings.Split(said, "\n")...)
	}
	return list
}

// closing says how a turn ended if it has no answer.
func (p *pen) closing(t *turn, card bool) []string {
	if t.lost != "" {
		return p.sign(p.bad, "■", t.lost)
	}
	s := t.situation(p.now)
	if t.view.State.End == nil && s.state != recovery.StateExpired {
		return nil
	}
	switch s.state {
	case recovery.StateStopped:
		return p.sign(p.dim, "■", s.line)
	case recovery.StateExpired, recovery.StateSuperseded:
		return p.sign(p.dim, "○", s.line)
	case recovery.StateFailed:
		if card {
			return nil
		}
		text := "Failed"
		if open := t.view.State.Open; open != nil {
			text = open.Failure.LocalLine(p.now)
		}
		return p.sign(p.bad, "■", text)
	default: // it is in progress, or has its answer
	}
	return nil
}

// sign is a line with a mark.
func (p *pen) sign(style lipgloss.Style, mark, text string) []string {
	rows := wrap(line(text), p.width-2*margin)
	for i := range rows {
		rows[i] = style.Render(rows[i])
	}
	return hang(style.Render(mark)+" ", rows)
}
