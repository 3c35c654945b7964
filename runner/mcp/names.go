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

// offeredName is the name that models know a tool by: server__tool. It depends on these
// two only, so that a run that goes on tomorrow finds its tools under the names of today,
// whatever other servers there are by then. Every provider takes letters, digits, '_' and
// '-', and no more than 64 of them; a name that has to be changed for that gets a hash of
// what it was.
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
