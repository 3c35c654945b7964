package dialect

import "github.com/mulligan-run/mulligan/llm"

const (
	noOutput = "(no tool output)"
	failed   = "Error: "
)

// Output is a tool's result for a wire that takes text, not empty, and has no flag for
// a tool that failed.
func Output(r *llm.ToolResult) string {
	text := r.Text
	if text == "" {
		text = noOutput
	}
	if r.IsError {
		return failed + text
	}
	return text
}
