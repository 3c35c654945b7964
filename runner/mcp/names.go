package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

const (
	separator = "__"
	maxName   = 64
	hashChars = 8
)

// offeredName is the name by which models know a tool: server__tool. It depends only on these two
// names, so that a run that is resumed tomorrow finds its tools under the same names, whatever
// other servers there are by then. Every provider accepts letters, digits, '_' and '-', and at most
// 64 of them; a name that has to be changed for that gets a hash of the original.
func offeredName(server, tool string) string {
	full := server + separator + tool
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, full)
	if name == full && len(name) <= maxName {
		return name
	}
	sum := sha256.Sum256([]byte(full))
	name = name[:min(len(name), maxName-hashChars-1)]
	return name + "_" + hex.EncodeToString(sum[:])[:hashChars]
}
