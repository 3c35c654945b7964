package show

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/mulligan-run/mulligan/internal/terminal"
	"github.com/mulligan-run/mulligan/llm"
)

// headers prints those of a failed attempt.
func (s *story) headers(h *llm.Headers) {
	if h == nil {
		return
	}
	s.oneWay("sent with ", h.Sent, h.SentMore)
	s.oneWay("came with ", h.Received, h.ReceivedMore)
}

const unbroken = "\u2011" // stands for a hyphen while lines are broken, so that no name is

const underWide = PageWidth - len(besides) // a line under another is indented

func (s *story) oneWay(way string, list []llm.Header, more int) {
	var all []string
	for _, h := range list {
		value := ": " + h.Value
		if h.Value == "" {
			value = " (hidden)"
		}
		all = append(all, h.Name+value)
	}
	if more > 0 {
		all = append(all, Plural(more, "other", "others"))
	}
	if len(all) > 0 {
		line := strings.ReplaceAll(way+terminal.OneLine(strings.Join(all, " · ")), "-", unbroken)
		s.under(s.Ink.Dim(strings.ReplaceAll(ansi.Wrap(line, underWide, ""), unbroken, "-")))
	}
}
