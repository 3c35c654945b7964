package gemini

import (
	"strconv"
	"strings"

	"github.com/mulligan-run/mulligan/wire"
)

// isGemini3 reports whether model is of generation 3 or later: it gives its calls
// ids, demands signatures back, and takes a level of thinking. The aliases that name
// no generation (gemini-flash-latest) stand for the newest.
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

// thinkingFor says how much a model is to think; nil leaves it to the model. A level
// means nothing to generation 2.5 and a budget (in tokens, of the output limit) is
// only put up with by generation 3; earlier models refuse both.
func thinkingFor(model, effort string) *wireThinking {
	budget := wire.Budget(effort)
	switch {
	case budget == 0:
		return nil
	case isGemini3(model):
		if effort == "medium" && strings.HasPrefix(model, "gemini-3-pro") {
			effort = "high" // it knows low and high only
		}
		return &wireThinking{Show: true, Level: strings.ToUpper(effort)}
	case strings.HasPrefix(model, "gemini-2.5-"):
		return &wireThinking{Show: true, Budget: budget}
	}
	return nil
}
