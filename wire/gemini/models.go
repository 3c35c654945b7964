package gemini

import (
	"strconv"
	"strings"

	"github.com/mulligan-run/mulligan/wire"
)

// isGemini3 reports whether model is of generation 3 or later: it gives ids to its calls, demands
// signatures back, and accepts a level of thinking. Aliases without a generation
// (gemini-flash-latest) mean the newest.
func isGemini3(model string) bool {
	rest, ok := strings.CutPrefix(model, "gemini-")
	if !ok {
		return false
	}
	digits := rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))]
	if digits == "" {
		return strings.HasSuffix(rest, "-latest")
	}
	generation, err := strconv.Atoi(digits)
	return err == nil && generation >= 3
}

// thinkingFor says how much a model is to think; nil leaves that to the model. Generation 2.5
// ignores a level. Generation 3 only tolerates a budget (in tokens, part of the output limit).
// Earlier models refuse both.
func thinkingFor(model, effort string) *wireThinking {
	budget := wire.Budget(effort)
	switch {
	case budget == 0:
		return nil
	case isGemini3(model):
		if effort == "medium" && strings.HasPrefix(model, "gemini-3-pro") {
			effort = "high" // it has only low and high
		}
		return &wireThinking{Show: true, Level: strings.ToUpper(effort)}
	case strings.HasPrefix(model, "gemini-2.5-"):
		return &wireThinking{Show: true, Budget: budget}
	}
	return nil
}
