package mcp

import (
	"slices"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mulligan-run/mulligan/recovery"
)

// safety says whether a call of unknown outcome may be repeated. The configuration has the last
// word. Without it a server's own annotations count, although the server may not honour them. A
// destructive update may still be repeatable: the second call does what the first did.
func (s Spec) safety(tool *sdk.Tool) recovery.Safety {
	if own, ok := s.Safety[tool.Name]; ok {
		return own
	}
	switch hints := tool.Annotations; {
	case hints == nil:
		return recovery.SafetyUnsafe
	case hints.ReadOnlyHint:
		return recovery.SafetyReadOnly
	case hints.IdempotentHint:
		return recovery.SafetyIdempotent
	}
	return recovery.SafetyUnsafe
}

// allTools stands for every tool of a server.
const allTools = "*"

// approval reports whether a person has to approve each call of the tool.
func (s Spec) approval(tool string) bool {
	return slices.Contains(s.Approval, tool) || slices.Contains(s.Approval, allTools)
}
